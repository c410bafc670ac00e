// What passes do to a graph that has been recorded.
#pragma once

#include <tx/graph/graph.hpp>

namespace tx {

// Nodes that are emitted from now on are of this region, and of the phase and site of that node.
constexpr void go_on_in(graph& g, int region_id, node const& like) {
  g.current = region_id;
  g.when = like.when;
  g.site = like.site;
}

// Whoever reads a value, or hands it out, reads another one.
constexpr void replace_everywhere(graph& g, int value, int other) {
  for (int k = 0; k < g.operands.size(); ++k)
    if (g.operands[k] == value) g.operands[k] = other;
  for (int r = 0; r < g.regions.size(); ++r)
    for (int k = 0; k < g.regions[r].results.size(); ++k)
      if (g.regions[r].results[k] == value) g.regions[r].results[k] = other;
  for (int k = 0; k < g.outputs.size(); ++k)
    if (g.outputs[k].value == value) g.outputs[k].value = other;
}

}  // namespace tx
