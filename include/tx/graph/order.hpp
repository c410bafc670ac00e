// The order in which the nodes of a graph can be written anew: each after what it needs, a region's node after its body too. Nodes stand
// in that order already, but for values that a gradient stacks of a body inside another body: the inner body gains a result, behind the
// node of the outer one.
//
//   %4 = repeat(region 1)       whose body now hands out %9
//   %9 = result(%3)             in region 1, which is what region 2 stacks
//   order: ..., %9, %4, ...
#pragma once

#include <tx/graph/graph.hpp>

namespace tx {

constexpr vec<int> order_of_nodes(graph const& g) {
  vec<int> order{};
  order.reserve(g.size());
  vec<char> stands(g.size(), 0);
  for (int i = 0; i < g.size(); ++i) {
    if (stands[i]) continue;
    if (g[i].op->kind == op_kind::region)
      for (int value : g.regions[static_cast<int>(g[i].at.v[0])].results)
        if (value > i && !stands[value]) {
          order.push_back(value);
          stands[value] = 1;
        }
    order.push_back(i);
  }
  return order;
}

}  // namespace tx
