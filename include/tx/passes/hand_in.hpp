// One more slice, or one more carry, for a body that has been recorded: what passes that move nodes across its border give it to read.
#pragma once

#include <tx/expr/var.hpp>
#include <tx/graph/leaf.hpp>

namespace tx::passes::detail {

// The argument of a body that sees `stacked`, a value around it, slice by slice; it perhaps has one already. slice: what each iteration sees.
//
//   stacked [12, 768, 768] around it, slice [768, 768] -> argument [768, 768], the last of the body's
constexpr int slice_handed_in(graph& g, int body, int stacked, value_info const& slice) {
  region const& b = g.regions[body];
  int const owner_id = b.owner;
  for (int k = b.carries + b.invariants; k < b.arguments.size(); ++k)
    if (g.input(owner_id, k) == stacked) return b.arguments[k];
  int const here = g.current;
  g.current = body;
  int const inside = emit_leaf(g, argument_info, slice, of_argument(b.arguments.size(), body)).id;
  g.current = here;
  g.regions[body].arguments.push_back(inside);
  ++g.regions[body].stacked;
  node& owner = g.nodes[owner_id];  // its operands go to the end of the list, with one more
  int const first = g.operands.size();
  for (int k = 0; k < owner.inputs; ++k) g.operands.push_back(int{g.operands[owner.first + k]});
  g.operands.push_back(stacked);
  owner.first = first;
  ++owner.inputs;
  return inside;
}

// One more carry, behind those that there are: `first` is what the loop is given, `next` what an iteration hands on. The argument.
constexpr int one_more_carry(graph& g, int body, int first, int next, value_info const& info) {
  int const number = g.regions[body].carries, owner_id = g.regions[body].owner, here = g.current;
  for (int k = number; k < g.regions[body].arguments.size(); ++k) g.nodes[g.regions[body].arguments[k]].at = of_argument(k + 1, body);
  for (int id = 0; id < g.size(); ++id)
    if (g[id].op == &result_info && g.input(id, 0) == owner_id && result_number(g[id].at) >= number) g.nodes[id].at = of_result(result_number(g[id].at) + 1);
  g.current = body;
  int const argument = emit_leaf(g, argument_info, info, of_argument(number, body)).id;
  g.current = here;
  region& b = g.regions[body];
  auto const inserted = [number](vec<int> const& list, int value) {
    vec<int> all{};
    for (int k = 0; k < list.size(); ++k) {
      if (k == number) all.push_back(value);
      all.push_back(int{list[k]});
    }
    if (number == list.size()) all.push_back(value);
    return all;
  };
  b.arguments = inserted(b.arguments, argument);
  b.results = inserted(b.results, next);
  ++b.carries;
  node& owner = g.nodes[owner_id];
  vec<int> given{};
  for (int k = 0; k < owner.inputs; ++k) given.push_back(int{g.operands[owner.first + k]});
  owner.first = g.operands.size();
  ++owner.inputs;
  for (int id : inserted(given, first)) g.operands.push_back(int{id});
  return argument;
}

}  // namespace tx::passes::detail
