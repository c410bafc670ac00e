// Values that the bodies of regions read without being handed them, such as numbers of the program. What a body inside another reads so,
// that one reads too.
#pragma once

#include <tx/graph/graph.hpp>

namespace tx::detail {

// For each region but the program itself, each value once. is_inside(region, id): is that value the body's own?
template <class IsInside>
constexpr vec<vec<int>> read_from_outside(graph const& g, IsInside is_inside) {
  vec<vec<int>> all(g.regions.size());
  auto const note = [&](int region_id, int id) {
    for (int already : all[region_id])
      if (already == id) return;
    all[region_id].push_back(id);
  };
  auto const read = [&](int region_id, int id) {
    for (; region_id != 0 && !is_inside(region_id, id); region_id = g.regions[region_id].parent) note(region_id, id);
  };
  for (node const& n : g.nodes)
    for (int k = 0; k < n.inputs; ++k) read(n.region, g.input(n, k));
  for (int r = 1; r < g.regions.size(); ++r)
    for (int value : g.regions[r].results) read(r, value);
  return all;
}

constexpr vec<vec<int>> numbers_read(graph const& g) {
  return read_from_outside(g, [&](int region_id, int id) { return g[id].region == region_id; });
}

}  // namespace tx::detail
