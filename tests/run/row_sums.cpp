// Sums over rows have the same bits in the epilogue of a product and in a kernel that reads what the product stored.
#include <tx/backends/cpu.hpp>
#include <tx/backends/eigen.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

template <class T, int Cols>
struct sums {
  tensor<T, Cols> of_elements;
  tensor<T, 1> of_greatest;  // a value of each row
};
template <class T, int Rows, int Cols>
constexpr auto product = [](tensor<T, Rows, 24> x, tensor<T, Cols, 24> w) { return matmul(x, transpose(w)); };
template <class T, int Rows, int Cols>
constexpr auto sums_of_value = [](tensor<T, Rows, Cols> y) { return sums<T, Cols>{reshape<Cols>(sum<0>(y)), reshape<1>(sum<0>(max<-1>(y)))}; };
template <class T, int Rows, int Cols>
constexpr auto sums_of_product = [](tensor<T, Rows, 24> x, tensor<T, Cols, 24> w) { return sums_of_value<T, Rows, Cols>(matmul(x, transpose(w))); };

template <class T>
std::vector<T> noise(std::size_t n, unsigned seed) {
  std::vector<T> v(n);
  for (auto& x : v) x = static_cast<T>((seed = seed * 1664525u + 1013904223u) >> 8) / T(9999991) - T(0.8);
  return v;
}

template <class Backend, class T, int Rows, int Cols>
void check() {
  INFO(Rows << " x " << Cols);
  using in_epilogue = function<sums_of_product<T, Rows, Cols>>;
  static_assert(in_epilogue::template program<>::kernels.size() == 1, "the product's kernel makes the sums");
  auto const x = noise<T>(std::size_t{Rows} * 24, 1), w = noise<T>(std::size_t{Cols} * 24, 2);
  executor<function<product<T, Rows, Cols>>, Backend> multiply;
  executor<in_epilogue, Backend> at_once;
  executor<function<sums_of_value<T, Rows, Cols>>, Backend> later;
  auto const y = multiply(x, w).value;
  auto const a = at_once(x, w);
  auto const b = later(y);
  CHECK(std::vector<T>(a.of_elements.begin(), a.of_elements.end()) == std::vector<T>(b.of_elements.begin(), b.of_elements.end()));
  CHECK(a.of_greatest[0] == b.of_greatest[0]);
}

}  // namespace

TEMPLATE_TEST_CASE("a sum over rows has the same bits in whatever kernel it is", "[rows]", f32, f64) {
  check<cpu, TestType, 20, 70>();  // the transposed product
  check<cpu, TestType, 36, 40>();
  check<cpu, TestType, 250, 33>();
  check<eigen, TestType, 250, 33>();
}
