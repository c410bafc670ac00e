// A batch in parts, each of which a recorded graph is for: what their arguments and results have to be.
#pragma once

#include <tx/expr/var.hpp>
#include <tx/ops/reshape.hpp>

namespace tx::passes {

// An argument of the whole batch, [N batch, ...], seen as [N, batch, ...].
constexpr int argument_of_parts(graph& g, node const& one, int parts) {
  value_info info = one.info;
  if (info.dims.rank == 0 || info.dims.is_bounded(0))
    throw invalid("accumulate: an argument needs a fixed leading axis that can be cut. FIX: give it the batch as its first axis");
  if (info.dims.rank == max_rank) throw invalid("accumulate: an argument has as many axes as a tensor may have, and no room for one of the parts. FIX: merge some with reshape");
  shape seen = extents(parts);
  for (int a = 0; a < info.dims.rank; ++a) seen.add(info.dims.at(a));
  info.dims.dim[0] *= parts;
  return reshape(emit_leaf(g, *one.op, info, one.at), seen).id;
}

// What a step hands back is the mean over the parts.
constexpr void check_results_of_parts(graph const& one) {
  for (output const& o : one.outputs) {
    value_info const& info = one.info(o.value);
    if (o.kind == output_kind::result && (info.count() != 1 || (info.type != dtype::f32 && info.type != dtype::f64)))
      throw invalid("accumulate: a step hands back means over the parts of a batch, so its results must be f32 or f64 scalars. FIX: reduce each, e.g. with mean(x)");
  }
}

}  // namespace tx::passes
