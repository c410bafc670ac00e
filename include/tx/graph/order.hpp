// The order in which the nodes of a graph can be written anew: each after what it needs, a body before the node that runs it and after
// what that is given. Most stand in that order already. Three things break it: differentiation has an inner body hand out one more value, whose
// `result` node then stands behind the outer body's end; sinking (passes/sink.hpp) puts nodes into bodies that have long been recorded; and what is made
// again of a planned graph (passes/remake.hpp) stands behind its readers.
//
//   %4 = repeat(region 1)       whose body now hands out %9
//   %9 = result(%3)             in region 1, which is what region 2 stacks
//   order: ..., %9, %4, ...
#pragma once

#include <tx/graph/graph.hpp>
#include <tx/graph/leaf.hpp>

namespace tx {

namespace detail {

class node_order {
 public:
  constexpr explicit node_order(graph const& g) : g_(g), stands_(g.size(), 0) { order_.reserve(g.size()); }

  constexpr vec<int> all() {
    for (int i = 0, end = g_.size(); i < end; ++i) put(i);
    return order_;
  }

 private:
  constexpr void put(int id) {
    char* const stands = stands_.data();
    if (stands[id]) return;
    stands[id] = 1;  // what needs itself again is given no place twice: verify() finds it
    node const& n = g_[id];
    for (int k = 0; k < n.inputs; ++k)
      if (int const from = g_.input(n, k); !stands[from]) put(from);
    if (n.op->kind == op_kind::region) {
      put_body(run_region(n.at), id);
    } else if (n.op == &argument_info) {
      region const& body = g_.regions[argument_region(n.at)];
      int const k = argument_number(n.at);
      if (body.owner >= 0 && k >= body.carries) put(g_.input(body.owner, k));
    }
    order_.push_back(id);
    if (!g_.has_results(id)) return;
    for (int k = 0; k < n.op->results; ++k) {  // they stand directly behind their node
      stands[id + 1 + k] = 1;
      order_.push_back(id + 1 + k);
    }
  }

  // What has been put into a body behind the node that runs it, in the order in which that was recorded.
  constexpr void put_body(int region_id, int owner) {
    bool late = false;
    for (int value : g_.regions[region_id].results) late = late || !stands_[value];
    for (int id = owner + 1; late && id < g_.size(); ++id)
      if (g_[id].region == region_id) put(id);
  }

  graph const& g_;
  vec<char> stands_;
  vec<int> order_{};
};

}  // namespace detail

constexpr vec<int> order_of_nodes(graph const& g) {
  detail::node_order order(g);
  return order.all();
}

}  // namespace tx
