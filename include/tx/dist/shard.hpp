// A recorded graph as one shard of a larger batch: a body that runs once (passes/as_body.hpp), so that shards are compiled to the same
// kernels in the same order, on one rank or on many.
//
//   one       l = mean(matmul(x, w))                                 x [8, 16]
//   two of it r1: l1 = mean(matmul(slice<0, 0, 8>(X), w)),           X [16, 16]
//             r2: l2 = mean(matmul(slice<0, 8, 8>(X), w)), l = (l1 + l2) / 2
#pragma once

#include <tx/expr/stacked.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/slice.hpp>
#include <tx/passes/as_body.hpp>

namespace tx::dist {

namespace detail {

// A leaf of `one` as the shard sees it: parameters are shared, an argument is cut along its leading axis.
constexpr int shard_leaf(graph& g, node const& n, int shard, int shards) {
  value_info info = n.info;
  if (n.op != &input_info || shards == 1) return emit_leaf(g, *n.op, info, n.at).id;
  if (info.dims.rank == 0 || info.dims.is_bounded(0))
    throw invalid("virtual_shards: an argument needs a fixed leading axis that can be cut. FIX: give it the batch as its first axis");
  int const each = info.dims.dim[0];
  info.dims.dim[0] *= shards;
  return slice(emit_leaf(g, *n.op, info, n.at), 0, shard * each, each, 1).id;
}

}  // namespace detail

// Appends `one` to g as shard number `shard` of `shards`; returns the ids in g of its `values`.
constexpr vec<int> append_shard(graph& g, graph const& one, vec<int> const& values, int shard, int shards) {
  passes::body_of_graph part(g, one);
  for (int i = 0; i < one.size(); ++i) {
    if (!part.is_handed_in(one, i)) continue;
    part.argument(detail::shard_leaf(g, one[i], shard, shards), one.info(i), i);
    ++part.body().invariants;
  }
  part.copy_nodes(shard);
  for (int v : values) part.body().results.push_back(part[v]);
  int const owner = part.close();
  // What the shard hands out has a leading axis of its one iteration.
  vec<int> out{};
  for (int k = 0; k < values.size(); ++k) {
    value_info const& info = one.info(values[k]);
    int const result = g.emit(&result_info, &owner, 1, of_result(k), tx::detail::stacked(info, 1));
    out.push_back(reshape(var{&g, result}, info.dims).id);
  }
  return out;
}

}  // namespace tx::dist
