// What a loop rounds of a parameter is rounded before it, once for the forward and the backward loop.
#include "../interpreter/evaluator.hpp"
#include "stacked.hpp"

#include <tx/passes/hoist.hpp>
#include <tx/train/sgd.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace stacked;

// Values that are rounded to halves: inside of loops, and those of a parameter outside.
struct places {
  int inside = 0, parameters = 0;
};
places rounded(graph const& g) {
  places p;
  for (int i = 0; i < g.size(); ++i) {
    if (g[i].op != &cast_info || !is_half(g.info(i).type)) continue;
    if (g[i].region != 0) ++p.inside;
    else p.parameters += g[g.input(i, 0)].op == &parameter_info;
  }
  return p;
}

std::vector<values> outputs(graph const& g) {
  evaluator const all(g, [](node const& leaf) {
    values v(static_cast<std::size_t>(leaf.info.count()));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.07 * static_cast<double>((5 * i + static_cast<std::size_t>(leaf.at.v[0])) % 17) - 0.5;
    return v;
  }, {.every_leaf = true, .rounded = true});
  std::vector<values> out;
  for (output const& o : g.outputs) out.push_back(all[o.value]);
  return out;
}

}  // namespace

TEST_CASE("a weight is rounded once, for the loop forward and the loop backward", "[hoist]") {
  graph const before = recorded<net, sgd, mixed<bf16>>();
  graph const after = passes::hoist(before);
  at_run_time::verified(after);
  CHECK(rounded(before).parameters == 0);
  CHECK(rounded(after).parameters == 2);  // and its bias
  CHECK(rounded(after).inside == rounded(before).inside - 3);
  CHECK(outputs(after) == outputs(before));
}

TEST_CASE("out of a loop in a loop too", "[hoist]") {
  graph const before = recorded<nested, sgd, mixed<f16>>();
  graph const after = passes::hoist(before);
  at_run_time::verified(after);
  CHECK(rounded(after).parameters == 2);  // and its bias
  CHECK(rounded(after).inside == rounded(before).inside - 3);
  CHECK(outputs(after) == outputs(before));
}

TEST_CASE("parts of a batch: out of the layers, and out of the loop over parts", "[hoist]") {
  graph const before = recorded<net, sgd, mixed<bf16>, accumulate<2>>();
  graph const after = passes::hoist(before);
  at_run_time::verified(after);
  CHECK(rounded(before).parameters == 0);
  CHECK(rounded(after).parameters == 2);
  CHECK(rounded(after).inside == rounded(before).inside - 3);
  CHECK(outputs(after) == outputs(before));
}

TEST_CASE("without halves there is nothing to do", "[hoist]") {
  graph const g = recorded<net, sgd>();
  CHECK(passes::hoist(g).size() == g.size());
}
