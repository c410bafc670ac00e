// Adafactor's graph, interpreted in f64, against plain loops, Hugging Face's and PyTorch's (tests/parity/adafactor.py), and what it keeps.
// Compiled steps are in thorough/.
#include "../furthest.hpp"
#include "../parity/numbers.hpp"
#include "interpreted.hpp"
#include "plain_optimizers.hpp"
#include "small_net.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/adafactor.hpp>
#include <tx/train/step.hpp>

namespace {

using namespace tx;

using absolute = adafactor_with<adafactor_options{.relative = false}>;
using momentum = adafactor_with<adafactor_options{.clip = 0.5, .beta1 = 0.75, .relative = false}>;

// 20 steps of some tensors that lie one after the other, all together and each by the plain loop. rows 0: vectors.
template <class Optimizer>
void check(plain_adafactor const& plain, int tensors, int rows, int cols) {
  INFO(tensors << " of " << rows << " x " << cols);
  auto const each = static_cast<std::size_t>(std::max(1, rows) * cols);
  shape dims{};
  if (tensors > 1) dims.add(tensors);
  if (rows > 0) dims.add(rows);
  dims.add(cols);
  interpreted<Optimizer> optimizer(dims, rows > 0 ? 2 : 1);
  values p(each * static_cast<std::size_t>(tensors));
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = std::sin(static_cast<double>(3 * i + 1)) * (i < each ? 1 : 1e-4);
  values wanted = p;
  std::vector<std::vector<values>> states(static_cast<std::size_t>(tensors), std::vector<values>(3, values(each)));
  for (int t = 1; t <= 20; ++t) {
    double const rate = t % 5 == 0 ? 0.75 : 0.1;  // above and below 1 / sqrt(t)
    double const decay = t % 2 == 0 ? 0.05 : 0.25;
    values gradient(p.size());
    for (std::size_t i = 0; i < p.size(); ++i)
      gradient[i] = i % each == 1 ? 0 : std::cos(static_cast<double>(i * i) + t) * (i % each == 2 ? 1e3 : 1) * (t > 10 ? 50 : 1);
    optimizer.step(p, gradient, rate, decay);
    for (std::size_t k = 0; k < states.size(); ++k) {
      auto const first = static_cast<std::ptrdiff_t>(k * each), last = first + static_cast<std::ptrdiff_t>(each);
      values one(wanted.begin() + first, wanted.begin() + last);
      values const g(gradient.begin() + first, gradient.begin() + last);
      plain(plain_step{one, g, states[k], rate, decay, t});
      std::copy(one.begin(), one.end(), wanted.begin() + first);
    }
    CHECK(distance(p, wanted) < 1e-11);
  }
}

template <class Optimizer>
void check_like(std::string const& kind, double rate, double decay = 0) {
  auto const file = parity_file("adafactor");
  for (auto const& [tensor, dims] : {std::pair{"matrix", shape{2, {}, {5, 7}}}, std::pair{"vector", shape{1, {}, {6}}}, std::pair{"cube", shape{3, {}, {3, 4, 2}}}}) {
    std::string const name = tensor;
    auto const wanted = parity_numbers(file, name + "." + kind), gradients = parity_numbers(file, name + ".gradients");
    values p = parity_numbers(file, name + ".initial");
    auto const n = static_cast<std::ptrdiff_t>(p.size());
    REQUIRE(wanted.size() == 20 * p.size());
    interpreted<Optimizer> optimizer(dims, dims.rank);
    for (std::ptrdiff_t t = 0; t < 20; ++t) {
      optimizer.step(p, values(gradients.begin() + t * n, gradients.begin() + (t + 1) * n), rate, decay);
      INFO(name << " " << kind << ", step " << t);
      CHECK(distance(p, values(wanted.begin() + t * n, wanted.begin() + (t + 1) * n)) < 1e-11);
    }
  }
}

template <class Optimizer, class... Options>
using step = train_step<small::net<float>, small::loss<float>, Optimizer, Options...>;
using block = parameter_block<small::net<float>, cpu>;
static_assert(block::bytes_for(step<momentum>::states) == step<momentum>::memory.parameters + step<momentum>::memory.optimizer);
// Rows 3 x 5, 3 x 5, 5, 1 and 7, columns 3 x 5 and 3, each up to a multiple of 16.
static_assert(step<adafactor>::memory.optimizer == 4 * 16 * (5 + 2));

template <class Run>
std::vector<float> losses(Run& run, int first, int steps) {
  run.settings["learning_rate"] = 0.05f;
  std::vector<float> all;
  for (int t = first; t < first + steps; ++t) all.push_back(run(small::batch<float>(t)).loss);
  return all;
}
}  // namespace

TEST_CASE("Adafactor is what plain loops compute", "[adafactor]") {
  check<adafactor>({.rows = 5}, 1, 5, 7);
  check<adafactor>({.rows = 0}, 1, 0, 9);
  check<adafactor>({.rows = 4}, 3, 4, 6);
  check<adafactor>({.rows = 0}, 3, 0, 6);
  check<adafactor>({.rows = 1}, 2, 1, 6);
  check<adafactor>({.rows = 6}, 2, 6, 1);
  check<absolute>({.rows = 4, .relative = false}, 3, 4, 6);
  check<momentum>({.rows = 4, .beta1 = 0.75, .relative = false, .clip = 0.5}, 3, 4, 6);
  check<momentum>({.rows = 0, .beta1 = 0.75, .relative = false, .clip = 0.5}, 3, 0, 6);
}

TEST_CASE("Adafactor is Hugging Face's, and PyTorch's with decay", "[adafactor]") {
  check_like<adafactor>("relative", 0.01);
  check_like<adafactor>("scaled", 0.03125);
  check_like<absolute>("absolute", 0.03125);
  check_like<momentum>("momentum", 0.03125);
  check_like<adafactor>("pytorch", 0.03125, 0.0625);
}

TEST_CASE("a gradient that is no number, or infinite, shows", "[adafactor]") {
  for (double const bad : {std::nan(""), HUGE_VAL}) {
    interpreted<adafactor> optimizer(shape{2, {}, {2, 2}}, 2);
    values p{1, 1, 1, 1};
    optimizer.step(p, {bad, 0.5, 0.5, 0.5}, 0.1, 0);
    CHECK(!std::isfinite(p[0]));
  }
}

TEST_CASE("what Adafactor keeps has the parameters' names, and extents of one for what is together", "[adafactor]") {
  executor<step<momentum>, cpu> run{seed(3)};
  losses(run, 0, 3);
  CHECK(run.states() == 3);
  auto const rows = run.tensors(1), columns = run.tensors(2), means = run.tensors(3);
  REQUIRE(rows.size() == 9);
  CHECK(rows[0].name == "layers.0.mix");
  CHECK(rows[0].dims == shape{2, {}, {5, 1}});
  CHECK(rows[1].dims == shape{1, {}, {5}});
  CHECK(rows[7].dims == shape{});
  REQUIRE(columns.size() == 4);
  CHECK(columns[2].name == "layers.2.mix");
  CHECK(columns[2].dims == shape{2, {}, {1, 5}});
  CHECK(columns[3].name == "unused");
  CHECK(columns[3].dims == shape{2, {}, {1, 3}});
  REQUIRE(means.size() == 9);
  CHECK(means[0].dims == run.tensors()[0].dims);
  for (std::size_t k = 0; k < 3; ++k) {  // the sum of all squares' means, by rows and by columns
    double of_rows = 0, of_columns = 0;
    for (float x : rows[2 * k].data) of_rows += x > 0 ? static_cast<double>(x) : HUGE_VAL;
    for (float x : columns[k].data) of_columns += static_cast<double>(x);
    CHECK(of_rows == Approx(of_columns).epsilon(1e-5));
  }
  for (int k = 1; k <= 3; ++k) CHECK(run.read(k).size() == run.elements(k).size());
  run.reset_optimizer();
  for (int k = 1; k <= 3; ++k)
    for (float x : run.elements(k)) REQUIRE(x == 0);
}

TEST_CASE("Adafactor's identity has the options that its states depend on", "[adafactor]") {
  using detail::optimizer_identity;
  CHECK(optimizer_identity<adafactor>() == "adafactor(power 0.8, epsilon1 1e-30)");
  CHECK(optimizer_identity<absolute>() == optimizer_identity<adafactor>());
  CHECK(optimizer_identity<momentum>() == "adafactor(power 0.8, epsilon1 1e-30, epsilon2 0, clip 0.5, beta1 0.75, relative 0)");
}
