// Numbers of the program that a repeat's block reads, in shards of a batch: what a shard hands into its own repeat.
#include <tx/backends/reference.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

struct layer {
  param<tensor<f32, 3, 3>, init::normal<1, 2>> w;
  constexpr auto operator()(auto const& x, auto const& scale) const { return tanh(matmul(x, w)) * 0.5f + x * scale; }
};
struct net {
  param<tensor<f32, 1>, init::ones> scale;
  repeat<2, layer> body;
};
template <int Rows>
constexpr auto loss = [](net const& m, tensor<f32, Rows, 3> x) {
  auto const y = m.body(x, m.scale);
  return mean(y * y);
};

template <class Step>
std::vector<float> trained() {
  executor<Step, reference> run{seed(2)};
  std::vector<float> x;
  for (int i = 0; i < 12; ++i) x.push_back(static_cast<float>((i * 7) % 11) / 11.0f);
  run.settings["learning_rate"] = 0.5;
  run(x);
  return {run.elements().begin(), run.elements().end()};
}

}  // namespace

TEST_CASE("a shard's repeat reads the program's numbers, also those that mixed precision leaves there") {
  auto const whole = trained<train_step<net, loss<4>, sgd>>();
  auto const shards = trained<train_step<net, loss<2>, sgd, virtual_shards<2>>>();
  auto const halves = trained<train_step<net, loss<2>, sgd, virtual_shards<2>, mixed<bf16>>>();
  auto const before = executor<train_step<net, loss<4>, sgd>, reference>{seed(2)}.elements()[0];
  CHECK(std::abs(whole[0] - before) > 1e-3f);  // it did train
  REQUIRE(shards.size() == whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(shards[i] == Approx(whole[i]).margin(1e-6));
    CHECK(halves[i] == Approx(whole[i]).margin(0.02));
  }
}
