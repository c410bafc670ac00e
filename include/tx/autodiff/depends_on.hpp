// Which nodes of a graph depend on leaves by a slope: through repeated blocks too, but not through integers and conditions.
#pragma once

#include <tx/graph/graph.hpp>
#include <tx/graph/leaf.hpp>
#include <tx/graph/numbers_read.hpp>

namespace tx::detail {

constexpr vec<char> depends_on(graph const& g, vec<int> const& leaves) {
  vec<char> active(g.size(), 0);
  for (int leaf : leaves) active[leaf] = 1;
  vec<vec<int>> const numbers = numbers_read(g);
  auto const region_reads = [&](int region_id) {
    bool any = false;
    int const owner = g.regions[region_id].owner;
    for (int k = 0; k < g[owner].inputs; ++k) any = any || active[g.input(owner, k)];
    for (int id : numbers[region_id]) any = any || active[id];
    return any;
  };
  auto const visit = [&](int i) {
    node const& n = g[i];
    bool any = active[i] != 0;
    bool const region_node = n.op->kind == op_kind::region;
    if (!n.op->differentiable || (!region_node && !is_float(n.info.type))) return;
    if (n.op == &argument_info) {
      int const region_id = argument_region(n.at);
      region const& body = g.regions[region_id];
      if (body.owner < 0) return;  // it is being recorded, and the leaves are in it
      int const k = argument_number(n.at);
      // A carry may become active through the body, so anything active that the body reads makes it so.
      any = k < body.carries ? region_reads(region_id) : active[g.input(body.owner, k)] != 0;
    } else if (region_node) {
      any = any || region_reads(run_region(n.at));
    } else {
      for (int k = 0; k < n.inputs; ++k) any = any || active[g.input(n, k)];
    }
    active[i] = static_cast<char>(any);
  };
  // What a body is handed may be recorded after the body's arguments: those of a backward pass are. Then all are visited again.
  for (bool again = true; again;) {
    for (int i = 0; i < g.size(); ++i) visit(i);
    again = false;
    for (int r = 1; r < g.regions.size(); ++r)
      for (int argument : g.regions[r].arguments) {
        char const before = active[argument];
        visit(argument);
        again = again || active[argument] != before;
      }
  }
  return active;
}

}  // namespace tx::detail
