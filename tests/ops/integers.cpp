// Integers are exact to the last bit on all backends, also where f64 skips some: beyond 2^53.
#include "../interpreter/passes.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/ops/abs.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/clamp.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/embedding_bag.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/min.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/nll.hpp>
#include <tx/ops/one_hot.hpp>
#include <tx/passes/rewrite.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

namespace {

using namespace tx;

constexpr i64 large = (i64{1} << 53) + 1;  // f64 has its neighbours only
constexpr i64 last = std::numeric_limits<i64>::max();
std::vector<i64> const left{large, -large, last, -last - 1, 3037000501, 7};
std::vector<i64> const right{1, large, -3, -1, 3037000501, -2};

template <int... D>
using t = tensor<i64, D...>;
struct results {
  t<6> sum, difference, product, quotient, larger, smaller, opposite, size, clamped, selected, running;
  tensor<bool, 6> less, equal;
  tensor<i32, 6> low;
  t<2, 1> of_rows, most, least;
  t<1, 3> of_columns;
};
constexpr auto computed = [](t<6> a, t<6> b) {
  auto const rows = reshape<2, 3>(a);
  auto const quarters = reshape<2, 3>(a / 4);
  return results{a + b,
                 a - b,
                 a * b,
                 a / b,
                 maximum(a, b),
                 minimum(a, b),
                 -a,
                 abs(b),
                 clamp(a, -9007199254740992, i64{1} << 60),
                 where(less(a, b), a, b),
                 cumsum<0>(a),
                 less(a - 1, b),
                 equal(a, b + (i64{1} << 53)),
                 cast<i32>(a),
                 sum<1>(quarters),
                 max<1>(rows),
                 min<1>(rows),
                 sum<0>(quarters)};
};

i64 plus(i64 a, i64 b) { return static_cast<i64>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b)); }
i64 times(i64 a, i64 b) { return static_cast<i64>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b)); }
i64 opposite(i64 a) { return times(a, -1); }

template <class T, class F>
void check_each(T const& told, F const& wanted) {
  std::vector<typename T::element_type> const numbers(told.begin(), told.end());
  REQUIRE(numbers.size() == left.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    INFO(i);
    CHECK(numbers[i] == wanted(left[i], right[i]));
  }
}
template <class Backend>
void check_exact() {
  executor<function<computed>, Backend> run{seed(0)};
  auto const r = run(left, right);
  check_each(r.sum, plus);
  check_each(r.difference, [](i64 a, i64 b) { return plus(a, opposite(b)); });
  check_each(r.product, times);
  check_each(r.quotient, [](i64 a, i64 b) { return b == -1 ? opposite(a) : a / b; });
  check_each(r.larger, [](i64 a, i64 b) { return std::max(a, b); });
  check_each(r.smaller, [](i64 a, i64 b) { return std::min(a, b); });
  check_each(r.opposite, [](i64 a, i64) { return opposite(a); });
  check_each(r.size, [](i64, i64 b) { return b < 0 ? opposite(b) : b; });
  check_each(r.clamped, [](i64 a, i64) { return std::clamp(a, 1 - large, i64{1} << 60); });
  check_each(r.selected, [](i64 a, i64 b) { return std::min(a, b); });
  check_each(r.less, [](i64 a, i64 b) { return plus(a, -1) < b; });
  check_each(r.equal, [](i64 a, i64 b) { return a == plus(b, large - 1); });
  check_each(r.low, [](i64 a, i64) { return static_cast<i32>(a); });
  i64 running = 0;
  for (std::size_t i = 0; i < 6; ++i) CHECK(r.running[i] == (running = plus(running, left[i])));
  for (std::size_t row = 0; row < 2; ++row) {
    auto const first = left.begin() + static_cast<std::ptrdiff_t>(3 * row);
    CHECK(r.of_rows[row] == first[0] / 4 + first[1] / 4 + first[2] / 4);
    CHECK(r.most[row] == *std::max_element(first, first + 3));
    CHECK(r.least[row] == *std::min_element(first, first + 3));
  }
  for (std::size_t c = 0; c < 3; ++c) CHECK(r.of_columns[c] == left[c] / 4 + left[c + 3] / 4);
}

// ---- ids that a program computes -----------------------------------------------------------------------------------

struct looked_up {
  tensor<float, 3, 2> hot, bags;
  tensor<float> loss;
};
constexpr auto ids = [](t<3> x, tensor<float, 2, 2> table, tensor<float, 3, 2> scores) {
  auto const id = x + x - x;
  return looked_up{one_hot<2>(id), embedding_bag<bag_mode::mean>(table, reshape<3, 1>(id)), nll(scores, id)};
};
template <class Backend>
void check_ids() {
  executor<function<ids>, Backend> run{seed(0)};
  auto const r = run(std::vector<i64>{i64{1} << 32, 1, 0}, std::vector<float>{1, 2, 3, 4}, std::vector<float>(6, -3));
  CHECK(std::vector<float>(r.hot.begin(), r.hot.end()) == std::vector<float>{0, 0, 0, 1, 1, 0});
  CHECK(std::vector<float>(r.bags.begin(), r.bags.end()) == std::vector<float>{0, 0, 3, 4, 1, 2});
  CHECK(r.loss[0] == 2);  // two of three rows have a label
}

// ---- conversions ---------------------------------------------------------------------------------------------------

struct converted {
  tensor<i64, 6> to_i64;
  tensor<i32, 6> to_i32;
  tensor<i8, 6> to_i8;
  tensor<u8, 6> to_u8;
  tensor<bool, 6> to_bool;
};
constexpr auto casts = [](tensor<double, 6> x) {
  return converted{cast<i64>(x * 0x1p30), cast<i32>(x), cast<i8>(x), cast<u8>(x), cast<bool>(x)};
};
template <class Backend>
void check_casts() {
  executor<function<casts>, Backend> run{seed(0)};
  std::vector<double> const x{0.5, -1.75, 300.7, 0, -129.2, 2e9};
  auto const r = run(x);
  for (std::size_t i = 0; i < 6; ++i) {
    auto const whole = static_cast<i64>(x[i]);
    CHECK(r.to_i64[i] == static_cast<i64>(x[i] * 0x1p30));
    CHECK(r.to_i32[i] == static_cast<i32>(whole));
    CHECK(r.to_i8[i] == static_cast<i8>(whole));
    CHECK(r.to_u8[i] == static_cast<u8>(whole));
    CHECK(r.to_bool[i] == (x[i] != 0));
  }
}

}  // namespace

TEST_CASE("i64 is exact beyond 2^53: cpu") { check_exact<cpu>(); }
TEST_CASE("i64 is exact beyond 2^53: reference") { check_exact<reference>(); }
TEST_CASE("computed ids of 64 bits are compared in full") {
  check_ids<cpu>();
  check_ids<reference>();
}
TEST_CASE("conversions to integers drop fractions, then bits") {
  check_casts<cpu>();
  check_casts<reference>();
}

TEST_CASE("integers are not folded where f64 skips some") {
  graph g{};
  auto const number = [&](double value) { return constant(g, dtype::i64, value); };
  auto const folds = [&](var x) {
    g.outputs.clear();
    g.outputs.push_back({x.id});
    graph const simple = at_run_time::simplified(g);
    return simple[simple.outputs[0].value].op == &constant_info;
  };
  CHECK(folds(number(0x1p52) + number(0x1p52 - 1)));
  CHECK_FALSE(folds(number(0x1p52) + number(0x1p52)));  // and so not that + 1
  CHECK_FALSE(folds(number(0x1p52) * number(3)));
  CHECK_FALSE(folds(number(0x1p62) / number(0x1p20 + 1)));
  CHECK(folds(number(0x1p53 - 1) / number(3)));
}
