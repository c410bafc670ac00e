// Products of E4M3: which become such, and what comes of them.
#include "../interpreter/evaluator.hpp"
#include "../interpreter/passes.hpp"
#include "quartered.hpp"
#include "verify_fusion.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/expr/state.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/passes/quarters.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace tx;

// Products of each kind, in all bodies.
struct products {
  int forward = 0, backward = 0;                // of E4M3
  int halves_forward = 0, halves_backward = 0;  // of halves
  bool operator==(products const&) const = default;
};
products products_of(graph const& g) {
  products p;
  for (int i = 0; i < g.size(); ++i) {
    if (g[i].op->kind != op_kind::product) continue;
    bool const back = g[i].when == step_phase::backward;
    dtype const type = g.info(g.input(i, 0)).type;
    CHECK(g.info(i).type == dtype::f32);
    if (type == dtype::e4m3) ++(back ? p.backward : p.forward);
    else if (type == dtype::bf16) ++(back ? p.halves_backward : p.halves_forward);
    else FAIL("a product of " << name_of(type));
  }
  return p;
}
template <class Program>
graph recorded() {
  graph g;
  Program::record(g);
  return at_run_time::simplified(g);
}

struct block {
  nn::linear<16, 48> wide;
  nn::linear<48, 16> narrow;
  constexpr auto operator()(auto const& x) const { return x + narrow(tanh(wide(x))); }
};
struct net {
  nn::linear<32, 16> in;
  repeat<3, block> layer;
  nn::linear<16, 3> out;  // three columns, which no unit takes
  constexpr auto operator()(auto const& x) const { return out(layer(in(x))); }
};
template <int Rows>
constexpr auto loss = [](auto const& m, tensor<float, Rows, 32> x) {
  auto const y = m(x);
  return mean(y * y);
};

// What none of them is: a state, a parameter that each product of a batch has anew, products of parameters, of odd depth and of arguments.
struct others {
  param<tensor<float, 16, 16>, init::normal<1, 2>> weight, second;
  state<tensor<float, 16, 16>> memory;
  param<tensor<float, 17, 16>, init::normal<1, 2>> odd;
};
constexpr auto of_others = [](others const& m, tensor<float, 4, 16> x, tensor<float, 16, 16> argument, tensor<float, 4, 17> deep, tensor<float, 2, 16, 4> batch) {
  auto const repeated = matmul(broadcast_to<2, 16, 16>(m.second), batch);
  return sum(matmul(x, m.memory)) + sum(matmul(x, argument)) + sum(matmul(deep, m.odd)) + sum(matmul(m.weight, m.second)) + sum(repeated);
};
constexpr auto of_kinds = [](others const& m, tensor<float, 16, 16> x, tensor<float, 2, 3, 16> y) {
  return sum(matmul(m.weight, x)) + sum(matmul(x, transpose(m.second))) + sum(matmul(y, m.weight)) + sum(matmul(slice<0, 0, 16>(m.odd), x));
};

}  // namespace

TEST_CASE("products by parameters become products of E4M3, forward and by what they are multiplied with", "[quarters]") {
  graph const g = recorded<train_step<net, loss<8>, sgd, mixed<e4m3>>>();
  // Forward: the first layer, two in a block; the last one has too few columns. Backward: two in the block and the one by what the last layer reads, whose depth is 3, is not;
  // nobody asks for the gradient by x.
  products const p = products_of(g);
  CHECK(p.forward == 3);
  CHECK(p.backward == 2);
  CHECK(p.halves_forward == 1);
  CHECK(p.halves_backward == 1 + 2 + 1 + 1);  // by each of the four weights, and by what the last layer reads
  graph const plain = recorded<train_step<net, loss<8>, sgd, mixed<bf16>>>();
  CHECK(products_of(plain).forward == 0);
  CHECK(products_of(plain).halves_forward == p.forward + p.halves_forward);
  CHECK(products_of(plain).halves_backward == p.backward + p.halves_backward);
  for (int i = 0; i < g.size(); ++i) {
    if (g[i].op->kind != op_kind::product || g.info(g.input(i, 0)).type != dtype::e4m3) continue;
    for (int k : {0, 1}) {  // both lie depth by depth: the right one is the transpose of what is rounded
      int side = g.input(i, k);
      CHECK((g[side].op == &transpose_info) == (k == 1));
      if (k == 1) side = g.input(side, 0);
      REQUIRE(g[side].op == &cast_info);
      CHECK(g.info(side).type == dtype::e4m3);
      CHECK(g.info(side).dims.last() == g.info(g.input(i, 0)).dims.last());
      CHECK(g[g.input(side, 0)].op == &mul_info);
    }
  }
}

TEST_CASE("frozen parameters are multiplied as trained ones are", "[quarters]") {
  struct frozen_net {
    nn::linear<32, 16> first;
    param<tensor<float, 16, 16>, init::normal<1, 2>, frozen> second;
  };
  constexpr auto f = [](frozen_net const& m, tensor<float, 8, 32> x) { return sum(matmul(m.first(x), m.second)); };
  CHECK(products_of(recorded<train_step<frozen_net, f, sgd, mixed<e4m3>>>()) == products{2, 1, 0, 1});
}

TEST_CASE("what is no product by one parameter, or does not fit units for matrices, stays", "[quarters]") {
  CHECK(products_of(recorded<function<of_others, others, mixed<e4m3>>>()) == products{0, 0, 5, 0});
  CHECK(products_of(recorded<function<of_kinds, others, mixed<e4m3>>>()) == products{4, 0, 0, 0});
  constexpr auto bounded = [](others const& m, tensor<float, dyn<9>, 16> x) { return sum(matmul(x, m.weight)); };
  CHECK(products_of(recorded<function<bounded, others, mixed<e4m3>>>()) == products{1, 0, 0, 0});  // rows may be as many as they are
  constexpr auto columns = [](others const& m, tensor<float, 16, dyn<32>> x) { return sum(matmul(m.weight, x)); };
  CHECK(products_of(recorded<function<columns, others, mixed<e4m3>>>()) == products{0, 0, 1, 0});
  constexpr auto of_parameters = [](others const& m, tensor<float, 4, 16> x) { return sum(matmul(x, matmul(m.weight, m.second))); };
  // The gradient by either parameter is no product of E4M3, though the other one is a parameter.
  CHECK(products_of(recorded<value_and_grad<of_parameters, others, mixed<e4m3>>>()) == products{0, 0, 2, 3});
}

TEST_CASE("a target without products of E4M3 multiplies halves that hold the same numbers", "[quarters]") {
  graph g;
  train_step<net, loss<8>, sgd, mixed<e4m3>>::record(g);
  graph const h = passes::widened(at_run_time::simplified(g), nullptr);
  CHECK(products_of(h) == products{0, 0, 4, 7});
  int widened = 0;
  for (int i = 0; i < h.size(); ++i) widened += h[i].op == &cast_info && h.info(i).type == dtype::bf16 && h.info(h.input(i, 0)).type == dtype::e4m3;
  CHECK(widened == 10);  // not below their views: each is rounded and widened in one kernel
  auto const all = [](passes::product_shape const& p) { return p.type == dtype::e4m3; };
  CHECK(products_of(passes::widened(at_run_time::simplified(g), all)).forward == 3);
  auto const deep = [](passes::product_shape const& p) { return p.depth == 48 && p.rows == 8 && p.matrices == 1; };
  CHECK(products_of(passes::widened(at_run_time::simplified(g), deep)).forward == 1);
}

TEST_CASE("steps of E4M3 are fused and stored as any others", "[quarters]") {
  for (graph const& g : {recorded<train_step<net, loss<8>, sgd, mixed<e4m3>>>(), recorded<train_step<net, loss<8>, adamw, clip_gradient, mixed<e4m3>>>()}) {
    CHECK_NOTHROW(verify_fusion_of(g));
    CHECK_NOTHROW(verify_fusion_of(passes::widened(g, nullptr)));
  }
}

namespace {

using weighed = quartered::matrix;  // [columns][depth] of doubles and rows of them

struct product_of_one {
  param<tensor<float, 48, 32>, init::normal<1, 2>> w;
};
template <int Rows>
constexpr auto multiplied = [](product_of_one const& m, tensor<float, Rows, 48> x) { return matmul(x, m.w); };
template <int Rows, class Backend = cpu>
using multiplying = executor<function<multiplied<Rows>, product_of_one, mixed<e4m3>>, Backend>;

void set(auto& run, std::vector<float> const& w) { std::copy(w.begin(), w.end(), run.tensors()[0].data.begin()); }

// Rows of very unlike sizes, with one that is nothing.
std::vector<float> rows_of(int rows, int depth, unsigned seed) {
  std::vector<float> x = quartered::drawn(rows * depth, seed);
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < depth; ++k) x[static_cast<std::size_t>(r * depth + k)] *= r == 2 ? 0.f : std::ldexp(1.f, 11 * (r % 5) - 30);
  return x;
}

}  // namespace

TEST_CASE("a product of E4M3 is that of rows and columns rounded on their own scales", "[quarters]") {
  constexpr int rows = 7, depth = 48, cols = 32;
  std::vector<float> const x = rows_of(rows, depth, 3), w = quartered::drawn(depth * cols, 5);
  auto const check = [&](auto run) {
    set(run, w);
    auto const y = run(x);
    weighed const want = quartered::product(quartered::of(x, rows, depth), quartered::transposed(quartered::of(w, depth, cols)));
    weighed const exact = quartered::plain(quartered::of(x, rows, depth), quartered::transposed(quartered::of(w, depth, cols)));
    double furthest = 0, from_exact = 0;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        double const got = static_cast<double>(y.value[static_cast<std::size_t>(r * cols + c)]), size = quartered::sizes(x, w, r, c, depth, cols);
        if (r == 2) REQUIRE(got == 0);
        else {
          furthest = std::max(furthest, std::abs(got - want[r][c]) / size);
          from_exact = std::max(from_exact, std::abs(got - exact[r][c]) / size);
        }
      }
    CHECK(furthest < 0x1p-8);     // the result is a half
    CHECK(from_exact < 0x1p-4);
    CHECK(from_exact > 0x1p-9);   // and the sides were rounded
  };
  check(multiplying<rows>{seed(1)});
  check(multiplying<rows, reference>{seed(1)});
}

TEST_CASE("a row of a product of E4M3 has the same bits alone and in any batch", "[quarters]") {
  constexpr int rows = 7, depth = 48, cols = 32;
  std::vector<float> const x = rows_of(rows, depth, 3);
  multiplying<rows> all{seed(1)};
  multiplying<1> one{seed(1)};
  auto const y = all(x);
  std::vector<float> const together(y.value.begin(), y.value.end());
  for (int r = 0; r < rows; ++r) {
    auto const own = one(std::vector<float>(x.begin() + r * depth, x.begin() + (r + 1) * depth));
    REQUIRE(std::equal(own.value.begin(), own.value.end(), together.begin() + r * cols));
  }
}

TEST_CASE("a NaN or an infinity in a row, or in a column, is seen, and nowhere else", "[quarters]") {
  constexpr int rows = 7, depth = 48, cols = 32;
  std::vector<float> const x = rows_of(rows, depth, 3);
  auto const check = [&](auto run) {
    auto const before = [&] {
      auto const y = run(x);
      return std::vector<float>(y.value.begin(), y.value.end());
    }();
    for (float const bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()})
      for (int const place : {0, 17, 47}) {
        auto other = x;
        for (int const row : {2, 5}) other[static_cast<std::size_t>(row * depth + place)] = bad;  // one beside zeros alone
        auto const y = run(other);
        for (int r = 0; r < rows; ++r)
          for (int c = 0; c < cols; ++c) {
            float const got = y.value[static_cast<std::size_t>(r * cols + c)];
            if (r == 2 || r == 5) REQUIRE(std::isnan(got));
            else REQUIRE(got == before[static_cast<std::size_t>(r * cols + c)]);
          }
      }
    for (float const bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      auto w = quartered::drawn(depth * cols, 5);
      set(run, w);
      auto const sound = [&] {
        auto const y = run(x);
        return std::vector<float>(y.value.begin(), y.value.end());
      }();
      w[21 * cols + 9] = bad;
      set(run, w);
      auto const y = run(x);
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) {
          float const got = y.value[static_cast<std::size_t>(r * cols + c)];
          if (c == 9) REQUIRE(std::isnan(got));
          else REQUIRE(got == sound[static_cast<std::size_t>(r * cols + c)]);
        }
    }
  };
  check(multiplying<rows>{seed(1)});
  check(multiplying<rows, reference>{seed(1)});
}

namespace {

// Its gradients are those of a product that does not depend on the parameters: dY is `by`.
struct scaled {
  param<tensor<float, 48>, init::normal<1, 1>> by_place;
  param<tensor<float, 48, 32>, init::normal<1, 2>> w;
};
constexpr auto slope = [](scaled const& m, tensor<float, 6, 48> x, tensor<float, 6, 32> by) { return sum(matmul(x * m.by_place, m.w) * by); };

}  // namespace

TEST_CASE("a gradient by a parameter is that of halves, bit by bit; the one by what it is multiplied with is of E4M3", "[quarters]") {
  executor<value_and_grad<slope, scaled, mixed<bf16>>, cpu> halves{seed(4)};
  executor<value_and_grad<slope, scaled, mixed<e4m3>>, cpu> quarters{seed(4)};
  std::vector<float> const x = quartered::drawn(6 * 48, 1), by = quartered::drawn(6 * 32, 2);
  auto const a = halves(x, by), b = quarters(x, by);
  CHECK(a.value != b.value);
  auto const gradient = [](auto const& told, std::size_t k) {
    auto const t = told.gradient.tensors()[k].data;
    return std::vector<float>(t.begin(), t.end());
  };
  CHECK(gradient(a, 1) == gradient(b, 1));
  // By x * by_place it is by * transpose(w), [6, 32] x [32, 48]; of each place, times x and summed over rows.
  auto const w = quarters.tensors()[1].data;
  weighed const dx = quartered::product(quartered::of(by, 6, 32), quartered::of(std::vector<float>(w.begin(), w.end()), 48, 32));
  std::vector<float> const got = gradient(b, 0), plain = gradient(a, 0);
  double apart = 0, from_halves = 0;
  for (int c = 0; c < 48; ++c) {
    double want = 0, size = 0;
    for (int r = 0; r < 6; ++r) {
      double const of_x = static_cast<double>(x[static_cast<std::size_t>(r * 48 + c)]);
      want += dx[r][c] * of_x;
      size += std::abs(of_x) * 3;
    }
    apart = std::max(apart, std::abs(static_cast<double>(got[static_cast<std::size_t>(c)]) - want) / size);
    from_halves = std::max(from_halves, std::abs(static_cast<double>(got[static_cast<std::size_t>(c)] - plain[static_cast<std::size_t>(c)])) / size);
  }
  CHECK(apart < 1e-6);
  CHECK(from_halves > 1e-3);
}
