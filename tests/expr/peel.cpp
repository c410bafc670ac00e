// A peeled repeat is the same model: names, places, values and gradients.
#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

using namespace tx;

namespace {

struct block {
  nn::linear<16, 16, init::normal<1, 4>> dense;
  constexpr auto operator()(auto const& x) const { return x + tanh(dense(x)); }
};
template <int N, peel P>
struct model {
  repeat<N, block, P> layer;
  constexpr auto operator()(auto const& x) const { return layer(x); }
};
constexpr auto loss = [](auto const& m, tensor<f32, 5, 16> x) {
  auto const y = m(x);
  return mean(y * y);
};

template <int N, peel P>
std::vector<float> after_three_steps() {
  executor<train_step<model<N, P>, loss, adamw>, cpu> run{seed(5)};
  std::vector<float> x(80);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) / 7;
  std::vector<float> losses;
  for (int i = 0; i < 3; ++i) losses.push_back(run(x).loss);
  auto const p = run.elements();
  losses.insert(losses.end(), p.begin(), p.end());
  return losses;
}

}  // namespace

TEST_CASE("peeling the last iteration changes no name and no value") {
  auto const whole = parameters_of<model<3, peel::none>>();
  auto const peeled = parameters_of<model<3, peel::last>>();
  REQUIRE(whole.size() == 6);
  REQUIRE(peeled.size() == 6);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(whole[i].name == peeled[i].name);
    CHECK(whole[i].offset == peeled[i].offset);
  }
  CHECK(peeled[4].name == "layer.2.dense.weight");

  auto const a = after_three_steps<3, peel::none>();
  auto const b = after_three_steps<3, peel::last>();
  auto const one = after_three_steps<1, peel::none>();
  auto const one_peeled = after_three_steps<1, peel::last>();
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-6));
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i] == Approx(one_peeled[i]).margin(1e-6));
  CHECK(a[2] < a[0]);
}
