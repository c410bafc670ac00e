// Tensors without elements, where they mean something: sums of nothing are 0, products 1, and what is broadcast against
// none is none.
#include "grad_program.hpp"
#include "check_op.hpp"
#include "structural_rules.hpp"

#include <tx/ops/add.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/min.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/prod.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>

namespace {

using vars = std::vector<tx::var>;
using arrays = std::vector<array>;

struct of_nothing {
  tx::tensor<float, 2, 1> sum, product;
  tx::tensor<float> all;
  tx::tensor<float, 2, 3> matmul;
  tx::tensor<float, 3> columns;
  tx::tensor<float, 2, 0> none;
  tx::tensor<float, 3> whole;
  tx::tensor<float, 1, 1> no_columns, no_rows;
  tx::tensor<float, 2, 1> dropped;
  tx::tensor<float, 2, 0, 3> of_matrices;
};
constexpr auto reduced = [](tx::tensor<float, 2, 0> x, tx::tensor<float, 0, 3> y, tx::tensor<float, 3> z) {
  return of_nothing{tx::sum<1>(x),  tx::prod<1>(x), tx::sum(x) + 1, tx::matmul(x, y), tx::reshape<3>(tx::sum<0>(y)) + z,
                    tx::exp(x) * 2, z * 2,
                    tx::sum<1>(tx::matmul(tx::reshape<1, 3>(z), tx::transpose(y))),  // [1, 3] x [3, 0]
                    tx::sum<0>(tx::matmul(y, tx::reshape<3, 1>(z))),                 // [0, 3] x [3, 1]
                    tx::sum<1>(tx::dropout(x)), tx::softmax(tx::reshape<2, 0, 3>(x) * 2 + 1)};
};

template <class Backend>
void check_compiled() {
  tx::executor<tx::function<reduced>, Backend> run{tx::seed(0)};
  std::vector<float> const none;
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto const told = as_values(run(none, none, std::vector<float>{1, 2, 3}));
    CHECK(told[0] == values{0, 0});
    CHECK(told[1] == values{1, 1});
    CHECK(told[2] == values{1});
    CHECK(told[3] == values(6, 0.0));
    CHECK(told[4] == values{1, 2, 3});
    CHECK(told[5].empty());
    CHECK(told[6] == values{2, 4, 6});
    CHECK(told[7] == values{0});
    CHECK(told[8] == values{0});
    CHECK(told[9] == values{0, 0});
    CHECK(told[10].empty());
  }
}

// What a repeat hands to its blocks may be a product of no depth, which is a number known while compiling.
struct block {
  tx::param<tx::tensor<double, 4>, tx::init::normal<1, 1>> w;
  constexpr auto operator()(auto const& x, auto const& same) const { return x * 0.5 + tx::tanh(tx::matmul(x, same)) * w + same; }
};
struct blocks {
  tx::repeat<2, block> both;
};
struct of_blocks {
  tx::tensor<double, 4, 4> none, of_none, of_some;
};
constexpr auto repeated = [](blocks const& m, tx::tensor<double, 0, 4> x, tx::tensor<double, 4, 4> y) {
  auto const none = tx::matmul(tx::transpose(x), x);
  return of_blocks{none, m.both(none, none), m.both(y, none)};
};

template <class Backend>
void check_repeated() {
  tx::executor<tx::function<repeated, blocks>, Backend> run{tx::seed(3)};
  std::vector<double> const none;
  values y, quarter;
  for (int i = 0; i < 16; ++i) {
    y.push_back(i - 5.0);
    quarter.push_back(0.25 * (i - 5.0));
  }
  auto const told = as_values(run(none, y));
  CHECK(told[0] == values(16, 0.0));
  CHECK(told[1] == values(16, 0.0));
  CHECK(told[2] == quarter);
}

}  // namespace

TEST_CASE("reductions of no elements") {
  array const none{make_dims({2, 0, 3}), {}};
  auto check = [&](char const* name, std::vector<int> const& dims, double value,
                   std::function<tx::var(tx::var)> const& op) {
    check_op(
        name, {none}, [&](vars const& v) { return op(v[0]); },
        [&](arrays const&) { return filled(make_dims(dims), value); }, false);
  };
  check("sum<1>", {2, 1, 3}, 0, [](tx::var v) { return tx::sum<1>(v); });
  check("sum<0>", {1, 0, 3}, 0, [](tx::var v) { return tx::sum<0>(v); });
  check("sum of all", {}, 0, [](tx::var v) { return tx::sum(v); });
  check("sum of all, transposed", {}, 0, [](tx::var v) { return tx::sum(tx::transpose(v)); });
  check("prod<1>", {2, 1, 3}, 1, [](tx::var v) { return tx::prod<1>(v); });
  check("max<2>", {2, 0, 1}, 0, [](tx::var v) { return tx::max<2>(v); });
  check("softmax", {2, 0, 3}, 0, [](tx::var v) { return tx::softmax(v); });
  CHECK_THAT(refusal({none}, [](vars const& v) { return tx::max<1>(v[0]); }),
             Catch::Contains("empty") && Catch::Contains("FIX"));
  CHECK_THAT(refusal({none}, [](vars const& v) { return tx::min(v[0]); }),
             Catch::Contains("empty") && Catch::Contains("FIX"));
}

TEST_CASE("an axis without elements has none beside an axis of 1") {
  array const none{make_dims({2, 0}), {}};
  array const column = filled(make_dims({2, 1}), 3);
  check_op(
      "with a number", {none}, [](vars const& v) { return v[0] * 2 + 1; }, [](arrays const& v) { return v[0]; }, false);
  check_op(
      "with a column", {none, column}, [](vars const& v) { return v[0] * v[1]; }, [](arrays const& v) { return v[0]; },
      false);
  CHECK_THAT(refusal({none, filled(make_dims({2, 3}))}, [](vars const& v) { return v[0] + v[1]; }),
             Catch::Contains("do not broadcast"));
  array const right = filled(make_dims({0, 4}));
  check_op(
      "a product of no depth", {none, right}, [](vars const& v) { return tx::matmul(v[0], v[1]); },
      [](arrays const&) {
        return filled(make_dims({2, 4}));
      },
      false);
}

TEST_CASE("compiled reductions of no elements: cpu") { check_compiled<tx::cpu>(); }
TEST_CASE("compiled reductions of no elements: reference") { check_compiled<tx::reference>(); }
TEST_CASE("blocks that are handed a product of no depth: cpu") { check_repeated<tx::cpu>(); }
TEST_CASE("blocks that are handed a product of no depth: reference") { check_repeated<tx::reference>(); }
