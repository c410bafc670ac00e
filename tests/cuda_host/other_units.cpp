// Devices whose units for matrices are not those of a warp, as those of HIP: a wavefront shares them, or there are none and products of halves run on vectors. Attention is written out.
#include "../cuda/twinbert.hpp"
#include "compare.hpp"

#include <tx/backends/hip/target.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/train/options.hpp>

#include <catch2/catch.hpp>

namespace {

template <tx::backends::device::matrix_units Units>
struct device_with : interpreter::host_device {
  static constexpr tx::backends::device::matrix_units units = Units;
};
struct without_units : interpreted {
  static constexpr tx::target const& target = tx::hip_target;
  template <class Signature>
  using kernel = tx::backends::device::kernel<device_with<tx::backends::device::matrix_units::none>, Signature>;
};
struct by_wavefronts : interpreted {
  static constexpr tx::target const& target = tx::hip_mfma_target;
  template <class Signature>
  using kernel = tx::backends::device::kernel<device_with<tx::backends::device::matrix_units::of_wavefronts>, Signature>;
};

// Sides that lie either way, edges of tiles, elements that are not as many as are read at once, several parts of the depth.
template <class T, int Rows, int Depth, int Cols>
constexpr auto product = [](tx::tensor<T, Rows, Depth> a, tx::tensor<T, Depth, Cols> b) { return tx::cast<float>(tx::matmul(a, b)); };
template <class T, int Rows, int Depth, int Cols>
constexpr auto turned_sides = [](tx::tensor<T, Depth, Rows> a, tx::tensor<T, Cols, Depth> b) {
  return tx::cast<float>(tx::matmul(tx::transpose<1, 0>(a), tx::transpose<1, 0>(b)));
};

template <class T>
std::vector<T> halves(std::size_t count) {
  std::vector<T> out;
  for (float x : numbers<float>(count, -1, 1)) out.push_back(T::from(x));
  return out;
}
template <class T, int Rows, int Depth, int Cols>
void check_product() {
  CAPTURE(Rows, Depth, Cols);
  auto const a = halves<T>(Rows * Depth), b = halves<T>(Depth * Cols);
  using one = tx::function<product<T, Rows, Depth, Cols>>;
  using other = tx::function<turned_sides<T, Rows, Depth, Cols>>;
  double const nearly = std::is_same_v<T, tx::bf16> ? 2e-2 : 2e-3;
  CHECK(distance(outcome<one, by_wavefronts>(1, a, b), outcome<typename one_by_one<one>::type, tx::reference>(1, a, b)) < nearly);
  CHECK(distance(outcome<other, by_wavefronts>(1, a, b), outcome<typename one_by_one<other>::type, tx::reference>(1, a, b)) < nearly);
}

// Sides whose elements are neighbours in memory along neither axis, but 16 bytes apart.
template <class T, int Step>
constexpr auto skipping_left = [](tx::tensor<T, 24, 32 * Step> a, tx::tensor<T, 32, 40> b) { return tx::cast<float>(tx::matmul(tx::slice<1, 0, 32, Step>(a), b)); };
template <class T, int Step>
constexpr auto skipping_right = [](tx::tensor<T, 24, 32> a, tx::tensor<T, 32, 40 * Step> b) { return tx::cast<float>(tx::matmul(a, tx::slice<1, 0, 40, Step>(b))); };
template <class Backend, class T, int Step>
void check_skipping() {
  CAPTURE(Step);
  using left = tx::function<skipping_left<T, Step>>;
  using right = tx::function<skipping_right<T, Step>>;
  double const nearly = std::is_same_v<T, tx::bf16> ? 2e-2 : 2e-3;
  auto const a = halves<T>(24 * 32 * Step), b = halves<T>(32 * 40);
  CHECK(distance(outcome<left, Backend>(1, a, b), outcome<typename one_by_one<left>::type, tx::reference>(1, a, b)) < nearly);
  auto const c = halves<T>(24 * 32), d = halves<T>(32 * 40 * Step);
  CHECK(distance(outcome<right, Backend>(1, c, d), outcome<typename one_by_one<right>::type, tx::reference>(1, c, d)) < nearly);
}
struct skipped_inputs {
  tx::nn::linear<32, 16, tx::init::uniform<1, 4>> layer;
};
constexpr auto skipped_loss = [](skipped_inputs const& m, tx::tensor<float, 24, 256> x) {
  auto const y = m.layer(tx::slice<1, 0, 32, 8>(x));
  return tx::mean(y * y);
};

template <class Backend>
void check_step() {
  using step = twinbert_step<tx::mixed<tx::bf16>>;
  auto const b = twinbert_batch();
  values const device = outcome<step, Backend>(2, b.query, b.document, b.label);
  CHECK(distance(device, outcome<typename one_by_one<step>::type, tx::reference>(2, b.query, b.document, b.label)) < 5e-3);
  interpreter::host_device::reversed = true;
  CHECK(device == outcome<step, Backend>(2, b.query, b.document, b.label));
  interpreter::host_device::reversed = false;
}

}  // namespace

TEST_CASE("TwinBERT's training step in bf16 on a device without units for matrices") { check_step<without_units>(); }
TEST_CASE("TwinBERT's training step in bf16 on units for matrices that a wavefront shares") { check_step<by_wavefronts>(); }
TEST_CASE("Products on units that a wavefront shares") {
  check_product<tx::f16, 64, 64, 64>();
  check_product<tx::bf16, 130, 72, 80>();
  check_product<tx::f16, 33, 37, 51>();
  check_product<tx::bf16, 16, 1536, 24>();
}
TEST_CASE("Products of views that skip elements along both axes") {
  check_skipping<interpreted, tx::f16, 8>();
  check_skipping<interpreted, tx::bf16, 2>();
  check_skipping<by_wavefronts, tx::bf16, 8>();
  using step = tx::train_step<skipped_inputs, skipped_loss, descent, tx::mixed<tx::bf16>>;
  auto const x = numbers<float>(24 * 256, -1, 1);
  CHECK(distance(outcome<step, interpreted>(2, x), outcome<typename one_by_one<step>::type, tx::reference>(2, x)) < 5e-3);
  CHECK(distance(outcome<step, by_wavefronts>(2, x), outcome<typename one_by_one<step>::type, tx::reference>(2, x)) < 5e-3);
}
