// Attention of packed texts: the CPU's kernel gives what products of padded texts give, and what the same texts give when they come padded, dropout
// included; offsets that fit nothing are refused before anything runs.
#include "../furthest.hpp"
#include "in_products.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/attend_packed.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <memory>
#include <numeric>

namespace {

constexpr int heads = 2, width = 12, texts = 4, longest = 90, most = 200;
constexpr std::size_t lengths[texts] = {70, 0, 1, 90};
constexpr int tokens = 161;
constexpr float small = 1e-4f;  // rounding of gradients that are none, as that of keys' biases, is nothing to AdamW then

struct model {
  tx::nn::linear<width, width> query, key, value;
  tx::param<tx::tensor<float, 1, heads, longest, longest>> bias;
};
struct told {
  tx::tensor<float> loss;
  tx::tensor<float, tx::dyn<most>, width> mixed;
};
using rows = tx::tensor<float, tx::dyn<most>, width>;
using begins = tx::tensor<tx::i32, texts + 1>;

constexpr auto packed_loss = [](model const& m, rows x, begins offsets) {
  auto const mixed = tx::nn::attend_packed<heads>(m.query(x), m.key(x), m.value(x), tx::nn::texts_at<longest>(offsets), tx::nn::causal, tx::nn::local<60>, m.bias);
  return told{tx::sum(mixed * mixed) * small, mixed};
};
using packed_step = tx::train_step<model, packed_loss, tx::adamw>;
using packed_halves = tx::train_step<model, packed_loss, tx::adamw, tx::mixed<tx::f16>>;

using padded_rows = tx::tensor<float, texts, longest, width>;
using mask = tx::tensor<bool, texts, longest>;
constexpr auto padded_loss = [](model const& m, padded_rows x, mask there) {
  auto const apart = [](auto const& y) { return tx::transpose<0, 2, 1, 3>(tx::reshape<texts, longest, heads, width / heads>(y)); };
  auto const mixed = tx::nn::attend(apart(m.query(x)), apart(m.key(x)), apart(m.value(x)), tx::nn::causal, tx::nn::local<60>, there, m.bias);
  auto const of_texts = tx::where(tx::reshape<texts, 1, longest, 1>(there), mixed, 0.0f);
  return tx::sum(of_texts * of_texts) * small;
};
using padded_step = tx::train_step<model, padded_loss, tx::adamw>;

std::vector<float> numbers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i * 7919 % 200) / 50 - 2;
  return x;
}
std::vector<tx::i32> offsets() {
  std::vector<tx::i32> o(1, 0);
  for (std::size_t n : lengths) o.push_back(o.back() + static_cast<tx::i32>(n));
  return o;
}

template <class Backend, class Step = packed_step>
values_of_steps trained(int threads) {
  tx::executor<Step, Backend> run{tx::seed(6), {.threads = threads}};
  run.settings["dropout"] = 0.2f;
  auto const x = numbers(tokens * width);
  std::vector<double> losses, mixed;
  for (int s = 0; s < 3; ++s) {
    auto const r = run(x, offsets());
    losses.push_back(static_cast<double>(r.loss));
    mixed.assign(r.mixed.begin(), r.mixed.end());
  }
  auto const all = run.read();
  return {losses, mixed, {all.begin(), all.end()}};
}
values_of_steps trained_padded() {
  tx::executor<padded_step, tx::cpu> run{tx::seed(6)};
  run.settings["dropout"] = 0.2f;
  auto const x = numbers(tokens * width);
  std::vector<float> padded(texts * longest * width, 5.0f);
  auto const there = std::make_unique<bool[]>(texts * longest);
  for (std::size_t t = 0, from = 0; t < texts; from += lengths[t++]) {
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(from * width), lengths[t] * width, padded.begin() + static_cast<std::ptrdiff_t>(t * longest * width));
    std::fill_n(there.get() + t * longest, lengths[t], true);
  }
  std::vector<double> losses;
  for (int s = 0; s < 3; ++s) losses.push_back(static_cast<double>(run(padded, std::span<bool const>(there.get(), texts * longest)).loss));
  auto const all = run.read();
  return {losses, {}, {all.begin(), all.end()}};
}

}  // namespace

TEST_CASE("packed attention is one kernel, and gives what padded texts give", "[packed]") {
  CHECK(attentions<packed_step, tx::cpu_target>() == 2);
  CHECK(attentions<packed_step, writes_out>() == 0);
  auto const one = trained<tx::cpu>(1), two = trained<tx::cpu>(2), products = trained<in_products>(2), plain = trained<tx::reference>(1), padded = trained_padded();
  REQUIRE(one[1].size() == tokens * width);
  check_agreement(one, two, {products, plain}, 2e-5);
  CHECK(distance(one[0], padded[0]) < 2e-5);
  CHECK(distance(one[2], padded[2]) < 2e-5);
}

TEST_CASE("packed attention of halves is the same kernel, which computes in f32", "[packed]") {
  CHECK(attentions<packed_halves, tx::cpu_target>() == 2);
  auto const one = trained<tx::cpu, packed_halves>(1), two = trained<tx::cpu, packed_halves>(2), products = trained<in_products, packed_halves>(2);
  auto const single = trained<tx::cpu>(1);
  for (std::size_t k = 0; k < one.size(); ++k) CHECK(one[k] == two[k]);
  for (std::size_t k : {0u, 1u}) {
    CHECK(distance(one[k], products[k]) < 4e-3);
    CHECK(distance(one[k], single[k]) < 4e-3);
  }
}

TEST_CASE("tokens behind the last text are of none", "[packed]") {
  tx::executor<tx::function<packed_loss, model>, tx::cpu> run{tx::seed(6)};
  auto const r = run(numbers((tokens + 9) * width), offsets());
  REQUIRE(r.mixed.size() == (tokens + 9) * width);
  for (std::size_t i = tokens * width; i < r.mixed.size(); ++i) REQUIRE(r.mixed[i] == 0);
}

TEST_CASE("offsets that fit no texts are refused", "[packed]") {
  tx::executor<packed_step, tx::cpu> run{tx::seed(6)};
  auto const x = numbers(tokens * width);
  auto const refused = [&](std::vector<tx::i32> const& o, char const* what) { CHECK_THROWS_WITH(run(x, o), Catch::Contains("argument 1") && Catch::Contains(what)); };
  refused({0, 70, 60, 71, 161}, "holds 60 at element 2; an offset must be at least the one before it, 70");
  refused({0, 70, 70, 71, 162}, "holds 162 at element 4; an offset must be below 162");  // of the tokens that there are, not of those that there may be
  refused({0, 91, 91, 91, 161}, "holds 91 at element 1; an offset must be at most 90 above the one before it, 0");
  refused({-1, 70, 70, 71, 161}, "holds -1 at element 0; an offset must be at least 0");
  CHECK_NOTHROW(run(x, std::vector<tx::i32>{5, 70, 70, 71, 161}));
}
