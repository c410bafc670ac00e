// The run time: errors leave an executor usable, nothing is allocated by a run, results depend on the seed alone.
#include "allocations.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <thread>

namespace {

using tx::param;
using tx::tensor;

// Large enough for several threads to be woken.
struct block {
  tx::nn::linear<48, 48> inner;
  param<tensor<float, 48>, tx::init::ones, tx::not_decayed> scale;
  param<tensor<float, 48>, tx::init::zeros, tx::not_decayed> shift;
  constexpr auto operator()(auto const& x) const { return tx::layer_norm(x + tx::dropout(tx::gelu(inner(x))), scale, shift); }
};
struct classifier {
  param<tensor<float, 50, 48>> table;
  tx::repeat<2, block> layer;
  tx::nn::linear<48, 7> out;
  constexpr auto operator()(auto const& ids) const { return out(layer(tx::embedding(table, tx::reshape<512, 1>(ids)))); }
};
constexpr auto loss = [](auto const& m, tensor<tx::i32, 512> x, tensor<tx::i32, 512> y) { return tx::cross_entropy(m(x), y); };
using step = tx::train_step<classifier, loss, tx::adamw, tx::clip_gradient>;
using predict = tx::function<[](classifier const& m, tensor<tx::i32, 512> x) { return m(x); }, classifier>;

static_assert(20 * step::memory.arena <= 21 * step::memory.largest_live);
static_assert(20 * predict::memory.arena <= 21 * predict::memory.largest_live);
static_assert(step::memory.peak == step::memory.parameters + step::memory.optimizer + step::memory.arena);
static_assert(step::memory.optimizer == 2 * step::memory.parameters);
static_assert(step::memory.parameters == 4 * tx::layout<classifier>::size);
static_assert(step::memory.gradients >= 4 * (50 * 48 + 2 * 48 * 50 + 48 * 7 + 7));
static_assert(predict::memory.arena < step::memory.arena);

struct batch {
  std::vector<tx::i32> x, y;
  explicit batch(int shift = 0) {
    for (int i = 0; i < 512; ++i) {
      x.push_back((i * 7 + shift) % 50);
      y.push_back((i * 3) % 7);
    }
  }
};
using trainer = tx::executor<step, tx::cpu>;

std::vector<float> trained(std::uint64_t seed, int threads, int steps = 10) {
  trainer run{tx::seed(seed), {.threads = threads}};
  batch const b;
  for (int i = 0; i < steps; ++i) run(b.x, b.y);
  return {run.elements().begin(), run.elements().end()};
}

}  // namespace

TEST_CASE("an exception leaves the executor as it was") {
  trainer run{tx::seed(1)};
  trainer untouched{tx::seed(1)};
  batch const b;
  batch wrong = b;
  wrong.x.push_back(0);
  CHECK_THROWS_AS(run(wrong.x, b.y), tx::shape_error);
  CHECK_THROWS_WITH(run(wrong.x, b.y), Catch::Contains("argument 0") && Catch::Contains("513") && Catch::Contains("512"));
  wrong.x.resize(511);
  CHECK_THROWS_AS(run(wrong.x, b.y), tx::shape_error);
  CHECK_THROWS_AS(run(b.x, std::vector<tx::i32>{}), tx::shape_error);
  wrong = b;
  wrong.x[17] = 50;
  CHECK_THROWS_AS(run(wrong.x, b.y), tx::value_error);
  CHECK_THROWS_WITH(run(wrong.x, b.y), Catch::Contains("holds 50") && Catch::Contains("element 17") && Catch::Contains("below 50"));
  wrong.x[17] = std::numeric_limits<tx::i32>::max();
  CHECK_THROWS_AS(run(wrong.x, b.y), tx::error);
  wrong = b;
  wrong.y[3] = 7;
  CHECK_THROWS_WITH(run(wrong.x, wrong.y), Catch::Contains("argument 1 holds 7 at element 3") && Catch::Contains("below 7"));
  wrong.y[3] = -1;
  CHECK_THROWS_WITH(run(wrong.x, wrong.y), Catch::Contains("argument 1 holds -1 at element 3") && Catch::Contains("at least 0"));
  CHECK(run.steps_run() == 0);
  for (int i = 0; i < 3; ++i) CHECK(run(b.x, b.y).loss == untouched(b.x, b.y).loss);
  CHECK(std::equal(run.elements().begin(), run.elements().end(), untouched.elements().begin()));
  wrong.x[17] = -1;  // names no row
  CHECK(std::isfinite(static_cast<float>(run(wrong.x, b.y).loss)));
}

TEST_CASE("a number of threads is none below 0") {
  CHECK_THROWS_WITH((trainer{tx::seed(1), {.threads = -3}}), Catch::Contains("threads is -3. FIX"));
}

TEST_CASE("a dropout rate is a share") {
  trainer run{tx::seed(1)};
  batch const b;
  for (float rate : {1.0f, -0.1f, std::numeric_limits<float>::quiet_NaN()}) {
    run.settings["dropout"] = rate;
    CHECK_THROWS_WITH(run(b.x, b.y), Catch::Contains("settings[\"dropout\"]") && Catch::Contains("FIX"));
  }
  CHECK(run.steps_run() == 0);
  run.settings["dropout"] = 0.99f;
  CHECK(std::isfinite(static_cast<float>(run(b.x, b.y).loss)));
}

TEST_CASE("what lies in an executor's own memory is no argument: a run would write over it while it reads") {
  using twice = tx::function<[](tensor<float, 4, 4> x) { return tx::gelu(x + x) + x; }>;
  tx::executor<twice, tx::cpu> run{}, other{};
  std::vector<float> const x(16, 0.5f);
  auto const first = run(x).value;
  CHECK_THROWS_AS(run(first), tx::value_error);
  CHECK_THROWS_AS(run(std::span(first.begin(), first.size())), tx::value_error);
  CHECK(other(first).value.size() == 16);  // of another one's
  CHECK(run(std::vector<float>(first.begin(), first.end())).value.size() == 16);
}

TEST_CASE("parameters are no argument of the program that trains them") {
  constexpr auto f = [](tx::nn::linear<4, 4> const& m, tensor<float, 4, 4> x) { return tx::sum(m(x)); };
  using model = tx::nn::linear<4, 4>;
  tx::executor<tx::train_step<model, f, tx::adamw>, tx::cpu> run{tx::seed(1)};
  for (int k = 0; k <= run.states(); ++k) CHECK_THROWS_AS(run(run.elements(k).first(16)), tx::value_error);
  CHECK(run.steps_run() == 0);
  auto const copy = run.read();
  run(std::span(copy).first(16));
  CHECK(run.steps_run() == 1);
  tx::executor<tx::function<f, model>, tx::cpu> look{run};
  look(run.elements().first(16));  // nothing is written
}

TEST_CASE("parameters, and states beside them, are blocks: there are no others") {
  trainer run{tx::seed(1)};
  auto const copy = run.read();
  for (int k : {-1, run.states() + 1}) {
    auto const is_told = Catch::Contains("there is no block " + std::to_string(k));
    CHECK_THROWS_WITH(run.read(k), is_told);
    CHECK_THROWS_WITH(run.size(k), is_told);
    CHECK_THROWS_WITH(run.write(copy, k), is_told);
    CHECK_THROWS_WITH(run.elements(k), is_told);
    CHECK_THROWS_WITH(run.tensors(k), is_told);
  }
}

TEST_CASE("a learning rate is a finite number, at least 0") {
  trainer run{tx::seed(1)};
  batch const b;
  for (float rate : {-1e-3f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    run.settings["learning_rate"] = rate;
    CHECK_THROWS_WITH(run(b.x, b.y), Catch::Contains("settings[\"learning_rate\"]") && Catch::Contains("FIX"));
  }
  CHECK(run.steps_run() == 0);
  std::vector<float> const before(run.elements().begin(), run.elements().end());
  run.settings["learning_rate"] = 0;
  run(b.x, b.y);
  CHECK(std::equal(before.begin(), before.end(), run.elements().begin()));
}

TEST_CASE("programs share what they have, and nothing else") {
  tx::executor<predict, tx::cpu> look{tx::seed(1)};
  CHECK_THROWS_WITH((trainer{look}), Catch::Contains("keeps no optimizer state to share"));
  trainer run{tx::seed(1)};
  std::vector<float> const few(5);
  CHECK_THROWS_WITH(run.write(few), Catch::Contains("5 elements were given"));
  CHECK_THROWS_AS(run.write(few, 1), tx::shape_error);
}

#if !defined(UNCOUNTED)
TEST_CASE("a run allocates nothing") {
  for (int threads : {1, 2}) {
    trainer run{tx::seed(1), {.threads = threads}};
    tx::executor<predict, tx::cpu> look{run, {.threads = threads}};
    batch const b;
    long const before = allocations;
    for (int i = 0; i < 3; ++i) {
      run(b.x, b.y);
      look(b.x);
    }
    CHECK(allocations == before);
  }
}
#endif

TEST_CASE("the same seed gives the same parameters, bitwise, whatever the number of threads") {
  auto const one = trained(1, 1);
  CHECK(trained(1, 1) == one);
  CHECK(trained(1, 2) == one);
  CHECK(trained(1, 2) == one);
  CHECK(trained(1, 3) == one);
  CHECK(trained(2, 1) != one);
}

TEST_CASE("two executors in two threads") {
  auto const wanted_a = trained(1, 1);
  auto const wanted_b = trained(2, 1);
  std::vector<float> a;
  std::vector<float> b;
  std::thread other([&] { b = trained(2, 1); });
  a = trained(1, 1);
  other.join();
  CHECK(a == wanted_a);
  CHECK(b == wanted_b);
}

TEST_CASE("training lowers the loss, and inference shares its parameters") {
  trainer run{tx::seed(1)};
  run.settings["dropout"] = 0;
  run.settings["learning_rate"] = 3e-3f;
  tx::executor<predict, tx::cpu> look{run};
  batch const b;
  auto loss_of = [&] {  // cross entropy of what `look` says, by hand
    auto const logits = look(b.x).value;
    double sum = 0;
    for (std::size_t r = 0; r < 512; ++r) {
      double total = 0;
      for (std::size_t c = 0; c < 7; ++c) total += std::exp(static_cast<double>(logits[r * 7 + c]));
      sum += std::log(total) - static_cast<double>(logits[r * 7 + static_cast<std::size_t>(b.y[r])]);
    }
    return sum / 512;
  };
  double const first = loss_of();
  for (int i = 0; i < 20; ++i) {
    double const expected = loss_of();
    CHECK(static_cast<double>(run(b.x, b.y).loss) == Approx(expected).epsilon(1e-4));
  }
  CHECK(loss_of() < first - 0.005);
  CHECK(run.steps_run() == 20);
}

TEST_CASE("parameters and states by name") {
  trainer run{tx::seed(1)};
  std::vector<std::string> names;
  for (auto const& t : run.tensors()) names.push_back(t.name);
  CHECK(names == std::vector<std::string>{"table", "layer.0.inner.weight", "layer.0.inner.bias", "layer.0.scale", "layer.0.shift", "layer.1.inner.weight",
                                          "layer.1.inner.bias", "layer.1.scale", "layer.1.shift", "out.weight", "out.bias"});
  auto const tensors = run.tensors();
  CHECK(tensors[0].data.size() == 50 * 48);
  CHECK((tensors[9].dims.rank == 2 && tensors[9].dims.dim[0] == 7 && tensors[9].dims.dim[1] == 48));
  for (float x : tensors[3].data) REQUIRE(x == 1);
  for (float x : tensors[4].data) REQUIRE(x == 0);
  // Writing a parameter changes what the program computes: with equal logits the loss is log 7.
  for (std::size_t k : {9u, 10u})
    for (float& x : tensors[k].data) x = 0;
  batch const b;
  CHECK(static_cast<float>(run(b.x, b.y).loss) == Approx(std::log(7.0)));
  double moved = 0;
  for (auto const& t : run.tensors(1))
    for (float x : t.data) moved += std::abs(static_cast<double>(x));
  CHECK(moved > 0);
}
