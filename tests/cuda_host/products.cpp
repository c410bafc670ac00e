// Products and whole operands on the device.
#include "compare.hpp"

#include <tx/nn/embedding.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/softmax.hpp>

#include <catch2/catch.hpp>

namespace {

template <class T, auto... D>
using t = tx::tensor<T, D...>;

template <class T, int Batch, int M, int K, int N>
double product() {
  constexpr auto f = [](t<T, Batch, M, K> a, t<T, Batch, K, N> b) { return tx::matmul(a, b); };
  return distance_from_reference<tx::function<f>>(1, numbers<T>(Batch * M * K, -1, 1), numbers<T>(Batch * K * N, -1, 1));
}

template <int In, int Out>
struct layer {
  tx::nn::linear<In, Out, tx::init::uniform<1, 4>> dense;
};
template <int Rows, int In, int Out>
constexpr auto layer_loss = [](layer<In, Out> const& m, t<float, Rows, In> x) {
  auto const y = tx::gelu(m.dense(x));
  return tx::mean(y / (tx::max<1>(y) + 2.0));
};
template <int Rows, int In, int Out>
double layer_gradient() {
  return distance_from_reference<tx::train_step<layer<In, Out>, layer_loss<Rows, In, Out>, descent>>(2, numbers<float>(Rows * In, -1, 1));
}

}  // namespace

TEST_CASE("Products of any size, one or many matrices") {
  CHECK(product<float, 1, 1, 1, 1>() < 1e-6);
  CHECK(product<float, 1, 64, 16, 64>() < 1e-5);
  CHECK(product<float, 1, 65, 17, 63>() < 1e-5);
  CHECK(product<float, 3, 70, 33, 5>() < 1e-5);
  CHECK(product<float, 20, 7, 40, 130>() < 1e-5);
  CHECK(product<double, 2, 30, 20, 10>() < 1e-12);
}

// Rounded numbers, so that the reference computes with the same.
template <class H, int M, int K, int N, bool LeftTurned, bool RightTurned>
double half_product() {
  constexpr auto f = [](t<float, M, K> a, t<float, K, N> b) {
    auto const left = tx::cast<H>(a);
    auto const right = tx::cast<H>(b);
    // Turned ones lie in memory before, as results of an op of their own.
    auto const turned_left = tx::transpose<1, 0>(tx::cast<H>(tx::transpose<1, 0>(a)));
    auto const turned_right = tx::transpose<1, 0>(tx::cast<H>(tx::transpose<1, 0>(b)));
    if constexpr (LeftTurned && RightTurned) return tx::matmul(turned_left, turned_right);
    else if constexpr (LeftTurned) return tx::matmul(turned_left, right);
    else if constexpr (RightTurned) return tx::matmul(left, turned_right);
    else return tx::matmul(left, right);
  };
  return distance_from_reference<tx::function<f>>(1, numbers<float>(M * K, -1, 1), numbers<float>(K * N, -1, 1));
}

TEMPLATE_TEST_CASE("Products of halves on units for matrices, sides lying either way", "", tx::bf16, tx::f16) {
  CHECK(half_product<TestType, 128, 64, 128, false, false>() < 2e-2);
  CHECK(half_product<TestType, 72, 200, 136, false, true>() < 2e-2);
  CHECK(half_product<TestType, 130, 70, 24, true, false>() < 2e-2);
  CHECK(half_product<TestType, 9, 5, 7, true, true>() < 2e-2);
}

TEST_CASE("Few tiles of a great depth are cut along it") {
  CHECK(tx::backends::device::depth_parts(1, 1600) > 1);
  CHECK(product<float, 1, 20, 1600, 30>() < 1e-3);
  CHECK(half_product<tx::bf16, 20, 1600, 30, false, true>() < 0.1);
}

TEST_CASE("Operands of a product that lie transposed or apart") {
  constexpr auto f = [](t<float, 9, 4, 6> a, t<float, 9, 4, 6> b) {
    auto const x = tx::transpose<1, 0, 2>(a);
    auto const y = tx::transpose<1, 2, 0>(b);
    return tx::transpose<1, 0, 2>(tx::matmul(tx::matmul(x, y), x));
  };
  CHECK(distance_from_reference<tx::function<f>>(1, numbers<float>(216, -1, 1), numbers<float>(216, -1, 1)) < 1e-5);
}

TEST_CASE("Epilogues and gradients of products") {
  CHECK(layer_gradient<5, 8, 3>() < 1e-5);
  CHECK(layer_gradient<130, 20, 70>() < 1e-5);
}

TEST_CASE("A product of many tiles whose epilogue sums over rows and over columns") {
  constexpr auto f = [](t<float, 8000, 3> a, t<float, 3, 300> b) {
    auto const y = tx::matmul(a, b);
    return tx::sum<0>(y - tx::mean<1>(y) + 1);
  };
  CHECK(distance_from_reference<tx::function<f>>(1, numbers<float>(24000, -1, 1), numbers<float>(900, -1, 1)) < 1e-4);
}

TEST_CASE("Products in bands of matrices, as options ask for them") {
  constexpr auto f = [](t<float, 6, 8, 5> a, t<float, 6, 8, 5> b) { return tx::matmul(tx::softmax(tx::matmul(a, tx::transpose<0, 2, 1>(b))), b); };
  constexpr tx::compile_options in_bands{.band_bytes = 600};
  using banded = tx::function<f, tx::no_model, tx::compiled_with<in_bands>>;
  constexpr int loops = banded::program<tx::cuda_target>::loops.size(), plain_loops = tx::function<f>::program<tx::cuda_target>::loops.size();
  CHECK(loops == 2);
  CHECK(plain_loops == 1);
  auto const a = numbers<float>(240, -1, 1), b = numbers<float>(240, -1, 1);
  CHECK(distance(outcome<banded, interpreted>(1, a, b), outcome<tx::function<f, tx::no_model, tx::compiled_with<unfused>>, tx::reference>(1, a, b)) < 1e-5);
}

TEST_CASE("Look-ups, their gradients, and what pads a slice") {
  struct model {
    tx::nn::embedding<50, 12> words;
  };
  constexpr auto loss = [](model const& m, t<int, 7, 9> ids) {
    return tx::mean(tx::slice<1, 1, 3, 2>(m.words(ids)) * 100.0) + tx::mean(m.words(ids) * m.words(ids));
  };
  CHECK(distance_from_reference<tx::train_step<model, loss, descent>>(2, numbers<int>(63, 0, 50)) < 1e-5);
}

TEST_CASE("Bounded extents of products") {
  struct model {
    tx::nn::linear<6, 70> dense;
  };
  constexpr auto f = [](model const& m, t<float, tx::dyn<100>, 6> x) { return tx::gelu(m.dense(x)); };
  using program = tx::function<f, model>;
  tx::executor<program, interpreted> device{tx::seed(1)};
  tx::executor<program, tx::reference> host{tx::seed(1)};
  for (std::size_t rows : {100u, 64u, 1u, 0u}) {
    auto const x = numbers<float>(rows * 6, -1, 1);
    auto const a = device(x).value;
    auto const b = host(x).value;
    for (std::size_t i = 0; i < rows * 70; ++i) REQUIRE(a[i] == Approx(b[i]).epsilon(1e-4).margin(1e-6));
  }
}
