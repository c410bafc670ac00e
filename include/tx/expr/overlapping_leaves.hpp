// A parameter of a peeled repeat is read by parts, each a leaf of its own. One that is also read whole has leaves that show the same numbers; if one of
// them were trained or set, each would be written with a part of the change.
#pragma once

#include <tx/graph/graph.hpp>

namespace tx::detail {

// Throws where a leaf that changes shares numbers with another one that is read.
constexpr void refuse_overlapping(graph const& g, vec<int> const& changing) {
  vec<int> parts{};  // leaves of parameters that have several
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == &parameter_info) parts.push_back(i);
  auto const share = [&](int a, int b) {
    std::int64_t const first_a = parameter_first(g[a].at), first_b = parameter_first(g[b].at);
    return a != b && parameter_entry(g[a].at) == parameter_entry(g[b].at) && first_a < first_b + g.info(b).count() && first_b < first_a + g.info(a).count();
  };
  auto const read = [&](int leaf) {
    for (int const used : g.operands)
      if (used == leaf) return true;
    for (output const& o : g.outputs)
      if (o.value == leaf) return true;
    return false;
  };
  for (int const leaf : changing)
    for (int const other : parts)
      if (share(leaf, other) && read(other))
        throw invalid("a parameter of repeated blocks is read by a repeat that is peeled and as a whole too, which is not known to training. FIX: peel::none for that repeat; of nn::bert, a pooler without last_layer");
}

}  // namespace tx::detail
