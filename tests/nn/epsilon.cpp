// The epsilon that a norm is given is the one that it computes with.
#include <tx/backends/cpu.hpp>
#include <tx/nn/bert_layer.hpp>
#include <tx/nn/layer_norm.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <cmath>

namespace {

using tx::tensor;
using half = std::ratio<1, 2>;

struct given {
  static constexpr int hidden = 4;
  using layer_norm_epsilon = half;
};
struct usual {
  static constexpr int hidden = 4;
};
static_assert(std::is_same_v<tx::nn::layer_norm_of<given>, tx::nn::layer_norm<4, half>>);
static_assert(std::is_same_v<tx::nn::layer_norm_of<usual>, tx::nn::layer_norm<4, std::pico>>);

template <class Norm>
float first(std::vector<float> const& x) {
  constexpr auto f = [](Norm const& norm, tensor<float, 1, 4> t) { return norm(t); };
  tx::executor<tx::function<f, Norm>, tx::cpu> run{tx::seed(0)};
  return run(x).value[0];
}

}  // namespace

TEST_CASE("a norm adds its epsilon to the variance") {
  std::vector<float> const x{1, 2, 3, 4};  // mean 2.5, variance 1.25
  CHECK(first<tx::nn::layer_norm_of<given>>(x) == Approx(-1.5 / std::sqrt(1.75)));
  CHECK(first<tx::nn::layer_norm_of<usual>>(x) == Approx(-1.5 / std::sqrt(1.25)));
  CHECK(first<tx::nn::layer_norm<4, std::ratio<10>>>(x) == Approx(-1.5 / std::sqrt(11.25)));
}
