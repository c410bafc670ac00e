// What bool tensors can be: compared (false is less than true), reduced to any and all, selected. No arithmetic.
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/min.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/where.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

template <int... D>
using flags = tensor<bool, D...>;
struct results {
  flags<4, 2> less, less_equal, equal, larger, smaller, selected;
  flags<4, 1> any, all;
  flags<> any_at_all, all_of_all;
  tensor<float, 4, 1> any_read;
};
constexpr auto conditions = [](tensor<float, 4, 2> x, tensor<float, 4, 2> y) {
  auto const a = less(x, 0);
  auto const b = less(y, 0);
  auto const some = max<1>(a);
  return results{less(a, b), less_equal(a, b), equal(a, b), maximum(a, b), minimum(a, b), where(a, b, less(0, y)),
                 some,       min<1>(a),        max(a),      min(a),        cast<float>(some)};
};

template <class Backend>
void check() {
  executor<function<conditions>, Backend> run{seed(0)};
  std::vector<float> const x{-1, -1, -1, 1, 1, -1, 1, 1}, y{-1, 1, 1, -1, -1, -1, 1, 1};
  auto const r = run(x, y);
  for (std::size_t i = 0; i < 8; ++i) {
    bool const a = x[i] < 0, b = y[i] < 0;
    CHECK(r.less[i] == (!a && b));
    CHECK(r.less_equal[i] == (!a || b));
    CHECK(r.equal[i] == (a == b));
    CHECK(r.larger[i] == (a || b));
    CHECK(r.smaller[i] == (a && b));
    CHECK(r.selected[i] == (a ? b : !b));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(r.any[i] == (i < 3));
    CHECK(r.all[i] == (i == 0));
    CHECK(r.any_read[i] == (i < 3 ? 1 : 0));
  }
  CHECK(r.any_at_all[0]);
  CHECK_FALSE(r.all_of_all[0]);
}

}  // namespace

TEST_CASE("conditions are ordered and reduced: cpu") { check<cpu>(); }
TEST_CASE("conditions are ordered and reduced: reference") { check<reference>(); }
