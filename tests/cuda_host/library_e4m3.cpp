// Products of E4M3 by a library that has such, on a device that it has units on or not: here it computes in plain loops.
#include "compare.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/step/program_options.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

namespace {

namespace cuda = tx::backends::cuda;

struct device_with_e4m3 : interpreter::host_device {
  static inline int products = 0, others = 0;
  static inline bool has_units = true;

  static bool multiply(cuda::library_product const& p) {
    if (p.type != tx::dtype::e4m3) return ++others, false;
    if (!has_units) return false;
    ++products;
    // What cuBLASLt asks for: both sides depth by depth, in multiples of 16 bytes, and results of f32 or bf16.
    if (p.left_col != 1 || p.right_row != 1 || p.batch != 1) throw std::logic_error("a side that does not lie depth by depth");
    if (p.depth % 16 != 0 || p.cols % 16 != 0 || p.left_row % 16 != 0 || p.right_col % 16 != 0) throw std::logic_error("extents that are no multiples of 16");
    if (reinterpret_cast<std::uintptr_t>(p.left) % 16 != 0 || reinterpret_cast<std::uintptr_t>(p.right) % 16 != 0 || reinterpret_cast<std::uintptr_t>(p.to) % 16 != 0) throw std::logic_error("a matrix that begins elsewhere");
    if (p.to_type != tx::dtype::f32) throw std::logic_error("results of another type");
    auto const* const left = reinterpret_cast<tx::e4m3 const*>(p.left);
    auto const* const right = reinterpret_cast<tx::e4m3 const*>(p.right);
    for (std::int64_t r = 0; r < p.rows; ++r)
      for (std::int64_t c = 0; c < p.cols; ++c) {
        float sum = 0;
        for (std::int64_t k = 0; k < p.depth; ++k) sum += left[r * p.left_row + k].widen() * right[c * p.right_col + k].widen();
        reinterpret_cast<float*>(p.to)[r * p.apart + c] = sum;
      }
    return true;
  }
};

struct with_e4m3 : interpreted {
  static constexpr tx::target const& target = tx::cuda_blas_fp8_target;
  template <class Signature>
  using kernel = cuda::kernel<device_with_e4m3, Signature>;
};

template <class T, auto... D>
using t = tx::tensor<T, D...>;

struct net {
  tx::nn::linear<512, 512, tx::init::uniform<1, 20>> in;
  tx::nn::linear<512, 512, tx::init::uniform<1, 10>> out;
};
constexpr auto loss = [](net const& m, t<float, 32, 512> x) {
  auto const y = m.out(tx::gelu(m.in(x)));
  return tx::mean(y * y * 200.0);  // so that gradients are seen in the parameters
};
using step = tx::train_step<net, loss, descent, tx::mixed<tx::e4m3>>;

constexpr auto linear = [](net const& m, t<float, 32, 512> x) { return m.in(x); };
using inference = tx::function<linear, net, tx::mixed<tx::e4m3>>;

}  // namespace

TEST_CASE("A step whose products by parameters are a library's, of E4M3", "[e4m3]") {
  auto const x = numbers<float>(32 * 512, -1, 1);
  device_with_e4m3::products = 0;
  values const by_library = outcome<step, with_e4m3>(1, x);
  CHECK(device_with_e4m3::products == 3);  // two forward, one by what the second layer reads
  values const plain = outcome<one_by_one<step>::type, tx::reference>(1, x);
  INFO(distance(by_library, plain));
  values const halves = outcome<tx::train_step<net, loss, descent, tx::mixed<tx::bf16>>, tx::cpu>(1, x);
  CHECK(distance(by_library, plain) < distance(halves, plain) / 8);
  CHECK(distance(halves, plain) < 0.05);
  // Where the device has no units for such, tx multiplies them itself.
  device_with_e4m3::has_units = false;
  values const by_kernel = outcome<step, with_e4m3>(1, x);
  device_with_e4m3::has_units = true;
  CHECK(device_with_e4m3::products == 3);
  CHECK(distance(by_kernel, plain) < distance(halves, plain) / 8);
  // And where the target does not say that it multiplies them, halves.
  CHECK(distance(outcome<step, interpreted>(1, x), plain) < distance(halves, plain) / 8);
}

TEST_CASE("A NaN and an infinity are seen through a library's products of E4M3, in their rows alone", "[e4m3]") {
  auto x = numbers<float>(32 * 512, -1, 1);
  x[5 * 512 + 7] = std::numeric_limits<float>::quiet_NaN();
  x[9 * 512 + 300] = -std::numeric_limits<float>::infinity();
  for (int k = 0; k < 512; ++k) x[static_cast<std::size_t>(11 * 512 + k)] = 0;
  for (bool const units : {true, false}) {
    device_with_e4m3::has_units = units;
    values const y = outcome<inference, with_e4m3>(1, x), wanted = outcome<inference, tx::cpu>(1, x);
    for (int r = 0; r < 32; ++r)
      for (int c = 0; c < 512; ++c) {
        double const got = y[static_cast<std::size_t>(r * 512 + c)], want = wanted[static_cast<std::size_t>(r * 512 + c)];
        if (r == 5 || r == 9) REQUIRE((std::isnan(got) && std::isnan(want)));
        else REQUIRE(got == Approx(want).margin(1e-2));
        if (r == 11) REQUIRE(got == want);  // zeros and a bias
      }
  }
  device_with_e4m3::has_units = true;
}
