// Products of all proportions, with and without an epilogue: as few rows times a weight as inference has, transposed sides, column
// blocks, any number of threads. Rows and columns that are no multiple of a tile.
#include "../furthest.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <cstring>

namespace {

using namespace tx;

template <int M, int K, int N>
struct outcome {
  tensor<f32, M, N> forward;    // x w'
  tensor<f32, M, N> column;     // an epilogue that may run on some columns
  tensor<f32, N> sums;          // of those columns
  tensor<f32, M, N> row;        // one that needs whole rows
  tensor<f32, N, K> to_weight;  // y' x
  tensor<f32, N, K> updated;    // the same, into an update
  tensor<f32, M, K> to_input;   // y w
};
template <int M, int K, int N>
constexpr auto products = [](tensor<f32, M, K> x, tensor<f32, N, K> w, tensor<f32, N> b) {
  auto const y = tanh(matmul(x, transpose(w)) + b);
  return outcome<M, K, N>{matmul(x, transpose(w)),
                          y,
                          reshape<N>(sum<0>(y)),
                          layer_norm(matmul(x, transpose(w)) * 0.5f, b, b),
                          matmul(transpose(y), x),
                          w - 0.5f * matmul(transpose(y), x),
                          matmul(y, w)};
};

std::vector<f32> noise(std::size_t n, unsigned seed) {
  std::vector<f32> v(n);
  for (auto& x : v) x = static_cast<f32>((seed = seed * 1664525u + 1013904223u) >> 8) / 16777216.0f - 0.5f;
  return v;
}

std::vector<double> widened(std::span<f32 const> v) { return {v.begin(), v.end()}; }

std::vector<double> plain(int m, int k, int n, auto const& a, auto const& b) {
  std::vector<double> c(static_cast<std::size_t>(m * n));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int p = 0; p < k; ++p) c[static_cast<std::size_t>(i * n + j)] += static_cast<double>(a(i, p)) * static_cast<double>(b(p, j));
  return c;
}

template <int M, int K, int N>
void check() {
  INFO(M << " x " << K << " x " << N);
  auto const x = noise(std::size_t{M} * K, 1), w = noise(std::size_t{N} * K, 2), b = noise(N, 3);
  executor<function<products<M, K, N>>, cpu> one(run_options{.threads = 1});
  auto const r = one(x, w, b);
  auto const at = [](auto const& v, int cols) {
    return [&v, cols](int i, int j) { return v[static_cast<std::size_t>(i * cols + j)]; };
  };
  auto const turned = [](auto f) { return [f](int i, int j) { return f(j, i); }; };
  auto const forward = plain(M, K, N, at(x, K), turned(at(w, K)));
  CHECK(distance(widened(r.forward), forward) < 1e-5);
  std::vector<double> column(forward), sums(N), row(forward);
  for (int i = 0; i < M; ++i) {
    double mean = 0, square = 0;
    for (int j = 0; j < N; ++j) {
      auto const e = static_cast<std::size_t>(i * N + j);
      sums[static_cast<std::size_t>(j)] += column[e] = std::tanh(forward[e] + static_cast<double>(b[static_cast<std::size_t>(j)]));
      mean += forward[e] * 0.5 / N;
    }
    for (int j = 0; j < N; ++j) square += std::pow(forward[static_cast<std::size_t>(i * N + j)] * 0.5 - mean, 2) / N;
    for (int j = 0; j < N; ++j) {
      auto const e = static_cast<std::size_t>(i * N + j);
      row[e] = (forward[e] * 0.5 - mean) / std::sqrt(square + 1e-5) * static_cast<double>(b[static_cast<std::size_t>(j)]) +
               static_cast<double>(b[static_cast<std::size_t>(j)]);
    }
  }
  CHECK(distance(widened(r.column), column) < 1e-5);
  CHECK(distance(widened(r.sums), sums) < 1e-4);
  CHECK(distance(widened(r.row), row) < 5e-5);
  auto to_weight = plain(N, M, K, turned(at(column, N)), at(x, K));
  CHECK(distance(widened(r.to_weight), to_weight) < 1e-4);
  for (std::size_t i = 0; i < to_weight.size(); ++i) to_weight[i] = static_cast<double>(w[i]) - 0.5 * to_weight[i];
  CHECK(distance(widened(r.updated), to_weight) < 1e-4);
  CHECK(distance(widened(r.to_input), plain(M, N, K, at(column, N), at(w, K))) < 1e-4);
  for (int threads : {5, 3, 2}) {
    executor<function<products<M, K, N>>, cpu> many(run_options{.threads = threads});
    auto const s = many(x, w, b);
    auto const same = [](auto const& p, auto const& q) { return std::equal(p.begin(), p.end(), q.begin(), q.end()); };
    CHECK((same(s.forward, r.forward) && same(s.column, r.column) && same(s.sums, r.sums) && same(s.row, r.row) &&
           same(s.to_weight, r.to_weight) && same(s.updated, r.updated) && same(s.to_input, r.to_input)));
  }
}

constexpr auto bounded_rows = [](tensor<f32, dyn<400>, 32> x, tensor<f32, 500, 32> w, tensor<f32, 500> b) {
  return layer_norm(matmul(x, transpose(w)) + b, b, b);
};

}  // namespace

TEST_CASE("products with few rows") {
  check<1, 17, 40>();
  check<7, 33, 100>();
  check<16, 64, 128>();
  check<50, 20, 101>();
  check<192, 48, 384>();
}
TEST_CASE("products with many rows and columns") {
  check<193, 48, 390>();
  check<300, 70, 64>();
  check<260, 520, 520>();  // sides whose rows lie far apart are packed
#if defined(NDEBUG)        // a minute where nothing is optimized
  check<131, 900, 1200>();
#endif
}
TEST_CASE("a bounded number of rows gives the same rows, many or few") {
  executor<function<bounded_rows>, cpu> run(run_options{.threads = 2});
  auto const w = noise(500 * 32, 2), b = noise(500, 3), x = noise(400 * 32, 1);
  auto const all = [&] {
    auto const y = run(x, w, b).value;
    return std::vector<f32>(y.begin(), y.end());
  }();
  REQUIRE(all.size() == 400 * 500);
  for (int rows : {1, 15, 16, 192, 193, 399}) {
    INFO(rows << " rows");
    auto const few = run(std::span(x).first(static_cast<std::size_t>(rows) * 32), w, b).value;
    REQUIRE(few.end() - few.begin() == rows * 500);
    CHECK(std::memcmp(&*few.begin(), all.data(), static_cast<std::size_t>(rows) * 500 * sizeof(f32)) == 0);
  }
}
