// Values that are stored in another order than their extents say, or read through views, by readers that want them otherwise.
#include "../furthest.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/flip.hpp>
#include <tx/ops/gather.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/take.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

std::vector<double> numbers(int count, double from = 0.3) {
  std::vector<double> v;
  for (int i = 0; i < count; ++i) v.push_back(std::sin(1.7 * i + from));
  return v;
}
template <class A, class B>
double distance_of(A const& got, B const& wanted) {
  double furthest = got.size() == wanted.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < wanted.size() && furthest < 1e300; ++i) keep_furthest(furthest, std::abs(double(got[i]) - double(wanted[i])));
  return furthest;
}

// ---- a last axis of one element, which a transpose leaves where it is ---------------------------------------------------

constexpr int batch = 3, words = 7, heads = 5, width = 2;
using split = tensor<f64, batch, words, heads, width>;
constexpr auto gated = [](split x, tensor<f64, batch, words, heads> gate) {
  auto const g = sigmoid(reshape<batch, words, heads, 1>(gate));
  return transpose<0, 2, 1, 3>(x) * transpose<0, 2, 1, 3>(g) + sum<-1>(transpose<0, 2, 1, 3>(g));
};
template <class Backend>
double gate_error() {
  auto const x = numbers(batch * words * heads * width), gate = numbers(batch * words * heads, 0.9);
  std::vector<double> wanted;
  for (int b = 0; b < batch; ++b)
    for (int h = 0; h < heads; ++h)
      for (int w = 0; w < words; ++w)
        for (int d = 0; d < width; ++d) {
          auto const at = static_cast<std::size_t>((b * words + w) * heads + h);
          double const g = 1 / (1 + std::exp(-gate[at]));
          wanted.push_back(x[at * width + static_cast<std::size_t>(d)] * g + g);
        }
  executor<function<gated>, Backend> run{};
  return distance_of(run(x, gate).value, wanted);
}

// ---- what a repeat hands to all its blocks is a view, read there as a whole ----------------------------------------------

constexpr int rows = 4, cols = 6;
struct reader_of_views {
  constexpr auto operator()(auto const& x, auto const& table, auto const& ids, auto const& sums) const {
    return tanh(x * 0.5 + take(table, ids) + flip<-1>(cumsum<-1>(sums)));
  }
};
struct views_inside {
  repeat<3, reader_of_views> blocks;
};
// table: [rows, 9] read as its transpose; ids: a column of three; sums: every other column, of which one row serves all.
constexpr auto through_views = [](views_inside const& m, tensor<f64, cols, rows> x, tensor<f64, rows, 9> table, tensor<i32, cols, 3> ids,
                                  tensor<f64, 2 * rows> sums) {
  auto const one_row = broadcast_to<cols, rows>(slice<0, 0, rows, 2>(sums));
  return m.blocks(x, transpose(table), reshape<cols>(slice<1, 1, 1>(ids)), one_row);
};
template <class Backend>
double views_error() {
  auto const x = numbers(cols * rows), table = numbers(rows * 9, 1.1), sums = numbers(2 * rows, 2.3);
  std::vector<i32> ids;
  for (int i = 0; i < cols * 3; ++i) ids.push_back((5 * i + 2) % 9);
  std::vector<double> wanted = x;
  for (int block = 0; block < 3; ++block)
    for (int i = 0; i < cols; ++i)
      for (int j = 0; j < rows; ++j) {
        double sum = 0;
        for (int k = 0; k < rows - j; ++k) sum += sums[static_cast<std::size_t>(2 * k)];
        double& to = wanted[static_cast<std::size_t>(i * rows + j)];
        to = std::tanh(to * 0.5 + table[static_cast<std::size_t>(j * 9 + ids[static_cast<std::size_t>(i * 3 + 1)])] + sum);
      }
  executor<function<through_views, views_inside>, Backend> run{seed(0)};
  return distance_of(run(x, table, ids, sums).value, wanted);
}

// ---- a stacked gradient that the body also reads in another order --------------------------------------------------------

template <int... Dims>
using drawn = param<tensor<f64, Dims...>, init::normal<1, 4>>;
struct both_orders {
  drawn<4, 2, 3> a;
  drawn<2, 4, 3> b;
  constexpr auto operator()(auto const& x) const { return tanh(x + a + transpose<1, 0, 2>(b)); }
};
struct repeated_orders {
  repeat<3, both_orders> block;
};
struct written_out {
  both_orders first, second, third;
};
using cube = tensor<f64, 4, 2, 3>;
constexpr auto repeated_loss = [](repeated_orders const& m, cube x, cube y) { return sum(m.block(x) * y); };
constexpr auto written_loss = [](written_out const& m, cube x, cube y) { return sum(m.third(m.second(m.first(x))) * y); };

template <class Backend>
double stacked_gradient_error() {
  executor<value_and_grad<repeated_loss, repeated_orders>, Backend> repeated{seed(1)};
  executor<value_and_grad<written_loss, written_out>, Backend> written{seed(2)};
  auto from = repeated.tensors();
  auto to = written.tensors();
  for (std::size_t k = 0; k < from.size(); ++k) std::copy(from[k].data.begin(), from[k].data.end(), to[k].data.begin());
  auto const x = numbers(24), y = numbers(24, 0.8);
  auto const got = repeated(x, y);
  auto const wanted = written(x, y);
  double furthest = 0;
  auto const g = got.gradient.tensors(), w = wanted.gradient.tensors();
  for (std::size_t k = 0; k < w.size(); ++k) keep_furthest(furthest, distance_of(g[k].data, w[k].data));
  return furthest;
}

// ---- bands whose members look at each other's matrices --------------------------------------------------------------------

using scores = tensor<f64, 3, 3, 4, 2>;
constexpr auto mirrored = [](scores q, scores k, scores v) {
  auto const s = matmul(q, transpose(k));
  return matmul(exp(s - transpose<1, 0, 2, 3>(max<-1>(s))), v);
};
constexpr auto last_of_all = [](scores q, scores k, scores v) {
  auto const s = matmul(q, transpose(k));
  return matmul(exp(s - slice<1, 2, 1>(max<-1>(s))), v);
};
constexpr auto own_matrices = [](scores q, scores k, scores v) {
  auto const s = matmul(q, transpose(k));
  return matmul(exp(s - max<-1>(s)), v);
};
template <std::int64_t Bytes>
constexpr compile_options in_bands{.band_bytes = Bytes};
template <auto F, std::int64_t Bytes>
using banded = function<F, no_model, compiled_with<in_bands<Bytes>>>;
static_assert(banded<own_matrices, 64>::program<>::loops.size() == 2);
static_assert(banded<mirrored, 64>::program<>::loops.size() == 1);

template <auto F, class Backend>
double band_error() {
  auto const q = numbers(72), k = numbers(72, 0.1), v = numbers(72, 0.2);
  executor<banded<F, 64>, Backend> few{};
  executor<banded<F, 1 << 30>, reference> whole{};
  return distance_of(few(q, k, v).value, whole(q, k, v).value);
}

}  // namespace

TEMPLATE_TEST_CASE("each reader finds the elements it asks for, whatever order they are stored in", "", cpu, reference) {
  SECTION("a last axis of one element") { CHECK(gate_error<TestType>() < 1e-12); }
  SECTION("views that a repeat's blocks read as a whole") { CHECK(views_error<TestType>() < 1e-12); }
  SECTION("gradients that are stacked and read in another order") { CHECK(stacked_gradient_error<TestType>() < 1e-12); }
  SECTION("matrices of a band that look at another") {
    CHECK(band_error<mirrored, TestType>() < 1e-12);
    CHECK(band_error<last_of_all, TestType>() < 1e-12);
    CHECK(band_error<own_matrices, TestType>() < 1e-12);
  }
}
