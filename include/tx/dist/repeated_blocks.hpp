// The blocks of a model that the ranks of a pipeline divide among them (stages.hpp): which repeats they are of, and what a rank has of values that are given slice by slice.
#pragma once

#include <tx/dist/own_rows.hpp>
#include <tx/graph/numbers_read.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/pad.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/where.hpp>

namespace tx::dist::detail {

// Repeats whose blocks ranks divide: that of those with most parameters, and others of as many blocks that run beside it, as two towers of a model do.
struct repeated_blocks {
  vec<int> owners{};
  int count = 0;  // that are repeated
  int each = 0;   // that a rank has; of the last rank some, or all, may not be repeated, but stand behind the repeat
};

// Values that are made of a node's results.
constexpr vec<char> made_of(graph const& g, int from) {
  vec<char> made(g.size(), 0);
  vec<vec<int>> const numbers = tx::detail::numbers_read(g);
  made[from] = 1;
  for (int id = from + 1; id < g.size(); ++id) {
    for (int k = 0; k < g[id].inputs; ++k) made[id] = made[id] || made[g.input(id, k)];
    if (g[id].op->kind == op_kind::region)
      for (int number : numbers[run_region(g[id].at)]) made[id] = made[id] || made[number];
  }
  return made;
}
constexpr region const& body_of(graph const& g, int owner) { return g.regions[run_region(g[owner].at)]; }

constexpr repeated_blocks find_blocks(graph const& g) {
  vec<int> all{};
  int largest = -1;
  std::int64_t most = 0;
  for (int id = 0; id < g.size(); ++id) {
    if (g[id].op != &repeat_info || g[id].region != 0) continue;
    region const& body = body_of(g, id);
    std::int64_t elements = 0;
    for (int k = body.carries + body.invariants; k < body.arguments.size(); ++k)
      if (node const& n = g[g.input(id, k)]; n.op == &parameter_info) elements += n.info.count();
    if (elements == 0 || body.carries == 0 || body.reversed) continue;
    all.push_back(id);
    if (elements > most) largest = id, most = elements;
  }
  if (largest < 0) throw invalid("pipeline: the model repeats no block that has parameters, of which each rank could have some. FIX: tx::repeat<N, Block>");
  repeated_blocks found{};
  found.count = body_of(g, largest).iterations;
  found.owners.push_back(largest);
  for (int id : all) {
    bool beside = id != largest && body_of(g, id).iterations == found.count;
    for (int other : found.owners) beside = beside && made_of(g, id < other ? id : other)[id < other ? other : id] == 0;
    if (beside) found.owners.push_back(id);
  }
  return found;
}

constexpr shape with_blocks(shape dims, int each) {
  dims.set(0, each);
  return dims;
}
// Of [blocks, ...], which all ranks have, [each, ...] of this rank, zeros where there are no more. Made of ops within the rank, as is its gradient: ranks come to it at different times.
constexpr var own_blocks(var x, int each, int ranks) {
  graph& g = *x.g;
  var const all = x.dims().dim[0] == ranks * each ? x : pad(x, 0, 0, 1, ranks * each);
  shape apart = extents(ranks), number{};
  for (int a = 0; a < all.dims().rank; ++a) apart.add(a == 0 ? bounded(each) : all.dims().at(a));
  for (int a = 0; a < apart.rank; ++a) number.add(a == 0 ? ranks : 1);
  var const mine = broadcast_to(own_rows(iota(g, extents(ranks), 0), 0, {ranks, across::stages}), extents(ranks));
  var const here = broadcast_to(reshape(emit(equal_info, {iota(g, extents(ranks), 0), mine}), number), apart);
  int const axis = 0;
  value_info const of{x.type(), apart};
  return reshape(sum(emit(where_info, {here, reshape(all, apart), broadcast_to(constant(g, of.type, 0), apart)}), &axis, 1), with_blocks(all.dims(), each));
}

}  // namespace tx::dist::detail
