// Fusion and reordering change no value: square extents, transposed reads, carries and parameters that are overwritten.
#include "../../furthest.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <vector>

namespace {

using namespace tx;

constexpr int n = 8;  // rows are as many as columns: a value by row looks like one by column, a matrix like its transpose
using square = tensor<f32, n, n>;
using line = tensor<f32, n>;
constexpr compile_options plain{.fuse = false, .reorder = false};

std::vector<float> values(int count, int shift) {
  std::vector<float> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<float>((i * 37 + shift * 11) % 41) / 41.0f - 0.5f);
  return out;
}

constexpr auto by_column = [](square x, line b) { return x + b * 2.0f; };
constexpr auto transposed = [](square x, square y) { return x + transpose<1, 0>(y * 2.0f); };
constexpr auto both_ways = [](square x, square y) {
  auto const z = y * 2.0f;
  return z + transpose<1, 0>(z) * x;
};

template <auto F, class A, class B>
void check_function(A const& a, B const& b) {
  executor<function<F>, cpu> fused{seed(0)};
  executor<function<F, no_model, compiled_with<plain>>, reference> unfused{seed(0)};
  auto const got = fused(a, b).value;
  auto const wanted = unfused(a, b).value;
  double furthest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) keep_furthest(furthest, std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted[i])));
  CHECK(furthest < 1e-6);
}

struct two_squares {
  param<square> a, b;
  param<line> c;
};

// One step after another, fused on the processor and node by node in plain loops.
template <class Model, auto Loss>
void check_steps() {
  executor<train_step<Model, Loss, adamw>, cpu> fused{seed(5)};
  executor<train_step<Model, Loss, adamw, compiled_with<plain>>, reference> unfused{seed(5)};
  for (int step = 0; step < 2; ++step) {
    auto const x = values(n * n, step);
    float const wanted = unfused(x).loss;
    CHECK(static_cast<double>(static_cast<float>(fused(x).loss)) == Approx(static_cast<double>(wanted)).epsilon(1e-5));
  }
  double furthest = 0;
  for (int k : {1, 2})  // the moments: a parameter's own step says little more than a sign
    for (std::size_t i = 0; i < unfused.elements(k).size(); ++i)
      keep_furthest(furthest, std::abs(static_cast<double>(fused.elements(k)[i]) - static_cast<double>(unfused.elements(k)[i])));
  CHECK(furthest < 1e-4);
}

// The gradient of what all iterations read is itself carried, and what the body reads of it is transposed.
struct doubled {
  constexpr auto operator()(auto const& x, auto const& s) const { return x * 0.5f + transpose<1, 0>(s) * x; }
};
struct repeated {
  param<square> a, b;
  repeat<3, doubled> body;
};
constexpr auto carried = [](repeated const& m, square x) { return sum(m.body(m.a * x, tanh(m.b)) * x); };

// A graph drawn from a number: sums, products, transposes, reductions and products of matrices over earlier values.
template <unsigned Seed>
constexpr auto drawn = [](two_squares const& m, square x) {
  std::array<square, 20> v{};
  v[0] = square{m.a.g, m.a.id};
  v[1] = square{m.b.g, m.b.id};
  v[2] = x;
  std::uint32_t state = Seed * 2654435761u + 12345u;
  auto const draw = [&](int below) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 16) % static_cast<unsigned>(below));
  };
  int count = 3;
  for (; count < 16; ++count) {
    auto const p = v[static_cast<std::size_t>(draw(count))];
    auto const q = v[static_cast<std::size_t>(count - 1 - draw(3))];
    auto& r = v[static_cast<std::size_t>(count)];
    switch (draw(8)) {
      case 0: r = p + q; break;
      case 1: r = p * q; break;
      case 2: r = tanh(p) + q * 0.5f; break;
      case 3: r = transpose<1, 0>(p) - q; break;
      case 4: r = q + sum<-1>(p * q); break;
      case 5: r = q + sum<0>(p) * 0.1f; break;
      case 6: r = matmul(p, q) * 0.1f; break;
      default: r = p * 0.3f + q * m.c; break;
    }
    r = tanh(r);
  }
  return sum(v[15] * v[14] + v[13]);
};

// Each is two programs to compile. More are drawn at run time: tests/drawn.
constexpr unsigned draws = 6;
template <unsigned... Seeds>
void check_drawn(std::integer_sequence<unsigned, Seeds...>) {
  (check_steps<two_squares, drawn<Seeds>>(), ...);
}

}  // namespace

TEST_CASE("a value by column does not join as one by row") { check_function<by_column>(values(n * n, 1), values(n, 2)); }
TEST_CASE("a transposed operand is read transposed") { check_function<transposed>(values(n * n, 1), values(n * n, 2)); }
TEST_CASE("one value read both ways") { check_function<both_ways>(values(n * n, 1), values(n * n, 2)); }
TEST_CASE("a carry is read before it is overwritten") { check_steps<repeated, carried>(); }
TEST_CASE("drawn graphs give the same losses and moments, fused and not") { check_drawn(std::make_integer_sequence<unsigned, draws>{}); }
