// Eigen's products and tx's, within the same programs: an independent opinion on every kind of product, epilogues and bands included.
#include "../furthest.hpp"

#include <tx/backends/eigen.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

template <class T>
struct outcome {
  tensor<T, 210, 70> rows;    // an epilogue that needs whole rows, in panels
  tensor<T, 70> sums;         // over rows, of all threads
  tensor<T, 70, 36> to_weight;
  tensor<T, 5, 70> few;       // few rows times a transposed side
  tensor<T, 210, 20> sparse;  // every third column of one side: neighbours in neither direction
  tensor<T, 3, 2, 35, 17> attended;
};
template <class T>
constexpr auto products = [](tensor<T, 210, 36> x, tensor<T, 70, 36> w, tensor<T, 70> b, tensor<T, 3, 35, 2, 17> heads) {
  auto const y = matmul(x, transpose(w)) + b;
  auto const q = transpose<0, 2, 1, 3>(heads);
  return outcome<T>{layer_norm(tanh(y), b, b),
                    reshape<70>(sum<0>(tanh(y))),
                    matmul(transpose(tanh(y)), x),
                    tanh(matmul(slice<0, 3, 5>(x), transpose(w))) * b,
                    matmul(slice<1, 0, 12, 3>(x), transpose(slice<1, 1, 12, 3>(slice<0, 0, 20>(w)))),
                    matmul(softmax(matmul(q, transpose<0, 1, 3, 2>(q * 2.0f))), q)};
};

constexpr auto some_rows = [](tensor<f32, dyn<200>, 36> x, tensor<f32, 70, 36> w, tensor<f32, 70> b) { return layer_norm(matmul(x, transpose(w)), b, b); };

template <class T>
std::vector<T> noise(std::size_t n, unsigned seed) {
  std::vector<T> v(n);
  for (auto& x : v) x = static_cast<T>((seed = seed * 1664525u + 1013904223u) >> 8) / T(16777216) - T(0.5);
  return v;
}
std::vector<double> widened(auto const& v) { return {v.begin(), v.end()}; }

template <class T>
void check(double most) {
  auto const x = noise<T>(210 * 36, 1), w = noise<T>(70 * 36, 2), b = noise<T>(70, 3), heads = noise<T>(3 * 35 * 2 * 17, 4);
  executor<function<products<T>>, cpu> tiles(run_options{.threads = 2});
  auto const wanted = tiles(x, w, b, heads);
  for (int threads : {1, 2}) {
    INFO(threads << " threads");
    executor<function<products<T>>, eigen> run(run_options{.threads = threads});
    auto const r = run(x, w, b, heads);
    CHECK(distance(widened(r.rows), widened(wanted.rows)) < most);
    CHECK(distance(widened(r.sums), widened(wanted.sums)) < most);
    CHECK(distance(widened(r.to_weight), widened(wanted.to_weight)) < most);
    CHECK(distance(widened(r.few), widened(wanted.few)) < most);
    CHECK(distance(widened(r.sparse), widened(wanted.sparse)) < most);
    CHECK(distance(widened(r.attended), widened(wanted.attended)) < most);
  }
}

}  // namespace

TEST_CASE("Eigen's products agree with tx's") {
  check<f32>(2e-5);
  check<f64>(1e-13);
}
TEST_CASE("Eigen's products of as many rows as there are") {
  auto const x = noise<f32>(200 * 36, 1), w = noise<f32>(70 * 36, 2), b = noise<f32>(70, 3);
  executor<function<some_rows>, cpu> tiles(run_options{.threads = 2});
  executor<function<some_rows>, eigen> run(run_options{.threads = 2});
  for (std::size_t rows : {std::size_t{0}, std::size_t{1}, std::size_t{60}, std::size_t{199}}) {
    std::vector<f32> const some(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(rows * 36));
    CHECK(distance(widened(run(some, w, b).value), widened(tiles(some, w, b).value)) < 2e-5);
  }
}
