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

namespace device = tx::backends::device;

struct device_with_e4m3 : interpreter::host_device {
  static inline int products = 0, scaled = 0, rounded = 0, rows = 0;
  static inline bool has_units = true, has_scales = true;

  static bool multiply(device::library_product const& p) {
    if (p.type != tx::dtype::e4m3) return false;
    if (!has_units || (!has_scales && p.row_scales != nullptr)) return false;
    ++products;
    scaled += p.row_scales != nullptr;
    rounded += p.to_type == tx::dtype::bf16;
    rows += p.row != nullptr;
    // What cuBLASLt asks for: both sides depth by depth, in multiples of 16 bytes, and results of f32 or bf16.
    if (p.left_col != 1 || p.right_row != 1 || p.batch != 1) throw std::logic_error("a side that does not lie depth by depth");
    if (p.depth % 16 != 0 || p.cols % 16 != 0 || p.left_row % 16 != 0 || p.right_col % 16 != 0) throw std::logic_error("extents that are no multiples of 16");
    if (reinterpret_cast<std::uintptr_t>(p.left) % 16 != 0 || reinterpret_cast<std::uintptr_t>(p.right) % 16 != 0 || reinterpret_cast<std::uintptr_t>(p.to) % 16 != 0) throw std::logic_error("a matrix that begins elsewhere");
    if (p.to_type != tx::dtype::f32 && p.to_type != tx::dtype::bf16) throw std::logic_error("results of another type");
    if (p.row != nullptr && p.to_type != tx::dtype::bf16) throw std::logic_error("a row of halves is added to results that are none");
    if ((p.row_scales != nullptr) != (p.column_scales != nullptr) || p.added != nullptr) throw std::logic_error("scales of one side, or a value to add to");
    auto const* const left = reinterpret_cast<tx::e4m3 const*>(p.left);
    auto const* const right = reinterpret_cast<tx::e4m3 const*>(p.right);
    for (std::int64_t r = 0; r < p.rows; ++r)
      for (std::int64_t c = 0; c < p.cols; ++c) {
        float sum = 0;
        for (std::int64_t k = 0; k < p.depth; ++k) sum += left[r * p.left_row + k].widen() * right[c * p.right_col + k].widen();
        if (p.row_scales != nullptr) sum = sum * reinterpret_cast<float const*>(p.row_scales)[r] * reinterpret_cast<float const*>(p.column_scales)[c];
        if (p.row != nullptr) sum += reinterpret_cast<tx::bf16 const*>(p.row)[c].widen();
        if (p.to_type == tx::dtype::f32) reinterpret_cast<float*>(p.to)[r * p.apart + c] = sum;
        else reinterpret_cast<tx::bf16*>(p.to)[r * p.apart + c] = tx::bf16::from(sum);
      }
    return true;
  }
};

struct with_e4m3 : interpreted {
  static constexpr tx::target const& target = tx::cuda_blas_fp8_target;
  template <class Signature>
  using kernel = tx::backends::device::kernel<device_with_e4m3, Signature>;
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
  using device = device_with_e4m3;
  auto const x = numbers<float>(32 * 512, -1, 1);
  values const plain = outcome<one_by_one<step>::type, tx::reference>(1, x);
  values const halves = outcome<tx::train_step<net, loss, descent, tx::mixed<tx::bf16>>, tx::cpu>(1, x);
  double const apart = distance(halves, plain);
  CHECK(apart > 5e-3);
  CHECK(apart < 0.05);
  device::products = device::scaled = device::rounded = device::rows = 0;
  CHECK(distance(outcome<step, with_e4m3>(1, x), plain) < apart / 8);
  CHECK(device::products == 3);  // two forward, one by what the second layer reads
  CHECK(device::scaled == 3);    // with the scales of both sides,
  CHECK(device::rows == 2);      // a bias, and rounded;
  CHECK(device::rounded == 3);   // the third waits for the gradient of gelu
  device::has_scales = false;    // they follow as a kernel
  CHECK(distance(outcome<step, with_e4m3>(1, x), plain) < apart / 8);
  device::has_scales = true;
  CHECK(device::products == 6);
  CHECK(device::scaled == 3);
  device::has_units = false;  // tx multiplies them itself
  CHECK(distance(outcome<step, with_e4m3>(1, x), plain) < apart / 8);
  device::has_units = true;
  CHECK(device::products == 6);
  CHECK(distance(outcome<step, interpreted>(1, x), plain) < apart / 8);  // a target that does not say that it multiplies them
}

namespace {

// Products whose sums have several readers, and one that is a result as it is.
struct plain_net {
  tx::param<t<float, 512, 512>, tx::init::uniform<1, 20>> w;
};
struct several {
  t<float, 32, 512> product, twice;
};
constexpr auto of_several = [](plain_net const& m, t<float, 32, 512> x) {
  auto const y = tx::matmul(x, m.w);
  return several{y, y * 2.0f + x};
};
using of_plain_net = tx::function<of_several, plain_net, tx::mixed<tx::e4m3>>;

}  // namespace

TEST_CASE("A product of E4M3 with several readers is stored once, scaled and rounded", "[e4m3]") {
  auto const x = numbers<float>(32 * 512, -1, 1);
  values const wanted = outcome<of_plain_net, tx::cpu>(1, x);
  for (bool const scales : {true, false}) {
    device_with_e4m3::has_scales = scales;
    CHECK(distance(outcome<of_plain_net, with_e4m3>(1, x), wanted) < 1e-6);
  }
  device_with_e4m3::has_scales = true;
}

TEST_CASE("A NaN and an infinity are seen through a library's products of E4M3, in their rows alone", "[e4m3]") {
  auto x = numbers<float>(32 * 512, -1, 1);
  x[5 * 512 + 7] = std::numeric_limits<float>::quiet_NaN();
  x[9 * 512 + 300] = -std::numeric_limits<float>::infinity();
  for (int k = 0; k < 512; ++k) x[static_cast<std::size_t>(11 * 512 + k)] = 0;
  for (int const way : {0, 1, 2}) {
    device_with_e4m3::has_units = way != 1;
    device_with_e4m3::has_scales = way != 2;
    values const y = outcome<inference, with_e4m3>(1, x), wanted = outcome<inference, tx::cpu>(1, x);
    for (int r = 0; r < 32; ++r)
      for (int c = 0; c < 512; ++c) {
        double const got = y[static_cast<std::size_t>(r * 512 + c)], want = wanted[static_cast<std::size_t>(r * 512 + c)];
        if (r == 5 || r == 9) REQUIRE((std::isnan(got) && std::isnan(want)));
        else REQUIRE(got == Approx(want).margin(1e-2));
        if (r == 11) REQUIRE(got == want);  // zeros and a bias
      }
  }
  device_with_e4m3::has_units = device_with_e4m3::has_scales = true;
}
