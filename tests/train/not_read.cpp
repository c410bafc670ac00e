// Parameters that a loss does not depend on decay, also where those are a part of a peeled repeat alone.
#include "../interpreter/evaluator.hpp"

#include <tx/expr/repeat.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>

namespace {

using namespace tx;

constexpr int width = 3, layers = 4;
struct layer {
  param<tensor<double, width, width>, init::ones> w;
  constexpr auto operator()(auto const& x) const { return matmul(x, w); }
};
template <peel How>
struct net {
  repeat<layers, layer, How> all;
  param<tensor<double, 2, 5>, init::ones> unused;
};
using rows = tensor<double, 2, width>;
constexpr auto before_last = [](net<peel::last> const& m, rows x) { return sum(m.all.outputs_before_last(x).carry); };
constexpr auto last = [](net<peel::last> const& m, rows x) { return sum(m.all.last()(x)); };
constexpr auto all = [](net<peel::last> const& m, rows x) { return sum(m.all(x)); };

// The parameters after a step of descent from ones, at a rate of 0.5 that decays by 0.25: what has no gradient becomes 0.875.
template <auto Loss>
values after_a_step() {
  graph g;
  train_step<net<peel::last>, Loss, sgd>::record(g);
  evaluation how;
  how.every_leaf = true;
  evaluator const result(g, [&](node const& leaf) {
    std::int64_t const of_group = leaf.at.v[0] - static_cast<std::int64_t>(scalar::group_rates);
    double value = 1;  // of parameters and inputs
    if (leaf.op == &scalar_info && of_group >= 0) value = of_group % 2 == 0 ? 0.5 : 0.25;
    return values(static_cast<std::size_t>(leaf.info.count()), value);
  }, how);
  values next(static_cast<std::size_t>(layout<net<peel::last>>::size), 1.0);
  for (output const& o : g.outputs) {
    if (o.kind != output_kind::assign || g[o.target].op != &parameter_info) continue;
    values const& told = result[o.value];
    std::copy(told.begin(), told.end(), next.begin() + parameter_first(g[o.target].at));
  }
  return next;
}

bool has_decayed_alone(values const& next, int first, int end) {
  return std::all_of(next.begin() + first, next.begin() + end, [](double x) { return x == 0.875; });
}
bool has_learned(values const& next, int first, int end) {
  return std::none_of(next.begin() + first, next.begin() + end, [](double x) { return x == 0.875 || x == 1; });
}

}  // namespace

TEST_CASE("parameters that the loss does not depend on decay, of a peeled repeat those of the blocks it does not run too") {
  constexpr int each = width * width, end = layers * each;
  REQUIRE(layout<net<peel::last>>::entries[0].offset == 0);
  values const first = after_a_step<before_last>();
  CHECK(has_learned(first, 0, end - each));
  CHECK(has_decayed_alone(first, end - each, end));
  values const of_last = after_a_step<last>();
  CHECK(has_decayed_alone(of_last, 0, end - each));
  CHECK(has_learned(of_last, end - each, end));
  values const of_all = after_a_step<all>();
  CHECK(has_learned(of_all, 0, end));
  auto const unused = static_cast<int>(layout<net<peel::last>>::entries[1].offset);
  for (values const& next : {first, of_last, of_all}) CHECK(has_decayed_alone(next, unused, unused + 10));
}
