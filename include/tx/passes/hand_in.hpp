// One more slice for a body that has been recorded: what passes that move nodes across its border give it to read.
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

}  // namespace tx::passes::detail
