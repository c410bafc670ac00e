// What forward compared is what backward compares, to the last bit, also where backward computes it again in another kernel: the gradient of a maximum.
// Compiled as programs are: where a compiler optimizes, it may round a product and a sum once here and twice there.
#include "../../furthest.hpp"

#include <tx/autodiff/grad.hpp>
#include <tx/backends/cpu.hpp>
#include <tx/expr/scan.hpp>
#include <tx/ops/full.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/min.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <vector>

namespace {

using matrix = tx::tensor<float, 8, 32>;
using matrices = tx::tensor<float, 2, 8, 32>;

// p = x w is read by two more: one adds to it, the other multiplies it.
constexpr auto greatest = [](auto const& w, auto const& xs, auto const& b) {
  auto const last = tx::scan<2>(
      [&](auto h, auto x) {
        auto const p = x * w;
        return h + tx::max<1>(p + b) - tx::min<1>(p - b) + tx::sum<1>(p * b);
      },
      tx::zeros<tx::tensor<float, 8, 1>>(w), xs);
  return tx::sum(last);
};
constexpr auto slopes = [](matrix w, matrices xs, matrix b) { return tx::grad<greatest>(w, xs, b); };

}  // namespace

TEST_CASE("the gradient of a maximum that is computed again hits what was the greatest") {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  auto const drawn = [&](std::size_t n) {
    std::vector<float> v(n);
    for (float& x : v) x = normal(random);
    return v;
  };
  auto const w = drawn(256), xs = drawn(512), b = drawn(256);
  std::vector<double> want(256, 0.0);
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t r = 0; r < 8; ++r) {
      std::size_t most = 0, least = 0;
      auto const at = [&](std::size_t c, float sign) { return static_cast<double>(xs[s * 256 + r * 32 + c]) * static_cast<double>(w[r * 32 + c]) + static_cast<double>(sign * b[r * 32 + c]); };
      for (std::size_t c = 1; c < 32; ++c) {
        if (at(c, 1) > at(most, 1)) most = c;
        if (at(c, -1) < at(least, -1)) least = c;
      }
      for (std::size_t c = 0; c < 32; ++c) {
        double const x = static_cast<double>(xs[s * 256 + r * 32 + c]);
        want[r * 32 + c] += x * (static_cast<double>(b[r * 32 + c]) + (c == most) - (c == least));
      }
    }
  tx::executor<tx::function<slopes>, tx::cpu> run{tx::run_options{.threads = 1}};
  auto const told = run(w, xs, b).value;
  CHECK(distance({told.begin(), told.end()}, want) < 1e-5);
}
