// A convolution's parameters are named, shaped and drawn as PyTorch's.
#include <tx/backends/cpu.hpp>
#include <tx/nn/conv2d.hpp>
#include <tx/ops/conv2d.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {
using namespace tx;
constexpr conv2d_options halves{.padding = 1, .groups = 2};
struct net {
  nn::conv2d<4, 6, 3, halves> conv;
};
constexpr auto f = [](net const& m, tensor<float, 2, 4, 5, 5> x) { return m.conv(x); };
constexpr auto plain = [](tensor<float, 2, 4, 5, 5> x, tensor<float, 6, 2, 3, 3> w, tensor<float, 6> b) { return conv2d<halves>(x, w, b); };
}  // namespace

TEST_CASE("a convolution has a weight for each output and input of its group, drawn by what an output sums") {
  executor<function<f, net>, cpu> run{seed(1)};
  auto const all = run.tensors();
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "conv.weight");
  CHECK(all[0].dims == make_shape<6, 2, 3, 3>());
  CHECK(all[1].name == "conv.bias");
  CHECK(all[1].dims == make_shape<6>());
  float const most = 1 / std::sqrt(18.0f);
  auto const [low, high] = std::ranges::minmax(all[0].data);
  CHECK(high <= most);
  CHECK(low >= -most);
  CHECK(high > 0.8f * most);
  CHECK(low < -0.8f * most);

  for (std::size_t i = 0; i < 6; ++i) all[1].data[i] = static_cast<float>(i);
  std::vector<float> x(2 * 4 * 25);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 11) - 5;
  executor<function<plain>, cpu> by_hand{};
  CHECK(std::ranges::equal(run(x).value, by_hand(x, all[0].data, all[1].data).value));
}
