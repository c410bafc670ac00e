// Where every value of a program lies. assign_storage.hpp says it, once; fusion, bands, lowering and the arena ask here.
#pragma once

#include <tx/core/vec.hpp>
#include <tx/graph/graph.hpp>
#include <tx/graph/leaf.hpp>
#include <tx/passes/stride.hpp>

namespace tx::passes {

// Where a value is put. own: in a buffer of its own; carry: over argument node `target`; slice: in the stacked value of result node
// `target`, per iteration; within: at element `offset` of gather_all or join node `target`; replace: over leaf `target`.
enum class place_kind : std::uint8_t { own, carry, slice, within, replace };

struct placement {
  place_kind kind = place_kind::own;
  int target = -1;
  std::int64_t offset = 0;
};

// The elements that a node shows: element (i0, i1, ...) of it is element at.offset + i0 at.stride[0] + ... of the root's buffer, and
// step[k] more in each further iteration of loop k around the node, the outermost being 0.
//
//   x = tanh(a)              [2, 3]   base x, root x,    at {0: 3, 1}
//   y = transpose(x)         [3, 2]   base x, root x,    at {0: 1, 3}      numbers {0: 1, 3}
//   the same where x is stored as y's readers want it:
//   x                        [2, 3]   base x, root x,    at {0: 1, 2}
//   y                        [3, 2]   base x, root x,    at {0: 2, 1}      numbers {0: 1, 3}
//   x, stacked by a loop     [2, 3]   base x, root its result node, at {0: 3, 1}, step {6}
struct location {
  int base = -1;            // the node that computed the elements, or holds them: itself for anything but views
  int root = -1;            // the node whose buffer they are in: the base's, unless that is placed elsewhere
  strided at{};             // in elements of the root's buffer
  quantity step[max_loops] = {};
  strided numbers{};        // which elements of the base, counted row by row: what fusion compares, wherever they lie
};

// Is it `count` elements further on in each iteration of the innermost of the loops around a region, and in those alone?
constexpr bool moves_by(location const& l, int loops, quantity count) {
  for (int k = 0; k < max_loops; ++k)
    if (l.step[k] != (k == loops - 1 ? count : quantity{})) return false;
  return true;
}
constexpr bool moves(location const& l) { return !moves_by(l, 0, {}); }

// The numbers of elements that no strides tell: they begin nowhere, so that they are equal to none.
inline constexpr strided no_numbers{.offset = exactly(-1)};
constexpr bool has_numbers(location const& l) { return l.numbers.offset != no_numbers.offset; }

struct storage {
  vec<location> of{};       // of each node
  vec<placement> places{};  // of each base
  vec<char> moved{};        // views that no strides express: kernels copy them
  vec<int> shared{};        // node -> one number for all that have elements in common; see shared_storage()
};

// Values that a kernel computes.
constexpr bool is_computed(op_kind kind) {
  return kind == op_kind::elementwise || kind == op_kind::row_reduce || kind == op_kind::col_reduce || kind == op_kind::product ||
         kind == op_kind::whole || kind == op_kind::collective;
}

// Does a kernel compute it? An op with several results is not a value itself.
constexpr bool is_computed(graph const& g, int id) { return g.is_result_of_op(id) || (is_computed(g[id].op->kind) && !g.has_results(id)); }

// Is it part of the parameters or of an optimizer's state?
constexpr bool in_block(graph const& g, int id) {
  op_info const* op = g[id].op;
  return op == &block_info || op == &parameter_info;
}

// Which flat block that is part of, 0 the parameters, and its first element there, counted in elements of its own type.
constexpr std::int64_t block_of(graph const& g, int leaf) { return g[leaf].op == &block_info ? block_number(g[leaf].at) : 0; }
constexpr std::int64_t first_in_block(graph const& g, int leaf) {
  return g[leaf].op == &block_info ? block_first(g[leaf].at) : parameter_first(g[leaf].at);
}

// Is it one of the values that a region stacks, an iteration each?
constexpr bool is_stacked_result(graph const& g, int id) {
  return g[id].op == &result_info && !g.is_result_of_op(id) && result_number(g[id].at) >= g.regions[run_region(g[g.input(id, 0)].at)].carries;
}

// Do the elements of a node lie one after the other, row by row?
constexpr bool lies_dense(graph const& g, storage const& s, int id) {
  return same_steps(s.of[id].at, dense(g.info(id).dims), g.info(id).dims);
}

// Does an operand show its base's elements in their order?
constexpr bool shows_in_order(graph const& g, storage const& s, int operand) {
  shape const& dims = g.info(operand).dims;
  return same_strides(s.of[operand].numbers, dense(dims), dims);
}

// Through views that show all elements in the order they have.
constexpr int through_dense(graph const& g, int id) {
  while (g[id].op->kind == op_kind::view) {
    int const from = g.input(id, 0);
    strided s = dense(g.info(from).dims);
    if (count_in(g.info(from).dims) != count_in(g.info(id).dims) || !g[id].op->restride(s, g.info(from).dims, g.info(id).dims, g[id].at) ||
        !same_strides(s, dense(g.info(id).dims), g.info(id).dims))
      break;
    id = from;
  }
  return id;
}

// The leaf or carry over which a node is stored and that others may still read, -1 where there is none. (The first value of a
// carry, before its loop, is stored over nothing.) A region replaces a stacked leaf, or a carry of the loop around it, slice by slice. A
// slice may itself be a slice of what a loop further out stacks: the outermost decides.
constexpr int overwritten(graph const& g, storage const& s, int id) {
  while (s.places[id].kind == place_kind::slice) id = s.places[id].target;
  placement const& p = s.places[id];
  int region_id = g[id].region;
  while (p.kind == place_kind::carry && region_id != g[p.target].region && region_id != 0) region_id = g.regions[region_id].parent;
  bool const over = p.kind == place_kind::replace || (p.kind == place_kind::carry && region_id == g[p.target].region);
  return over ? p.target : -1;
}

// Which stored nodes have elements in common: node -> itself, or one leaf for all leaves of a flat block of which each overlaps
// another of them.
constexpr vec<int> shared_storage(graph const& g) {
  struct range {
    std::int64_t block, first, end;  // bytes
    int leaf;
  };
  vec<range> ranges{};
  vec<int> shared(g.size(), -1);
  for (int i = 0, end = g.size(); i < end; ++i) {
    shared[i] = i;
    if (!in_block(g, i)) continue;
    std::int64_t const size = size_of(g.info(i).type), first = first_in_block(g, i) * size;
    ranges.push_back({block_of(g, i), first, first + g.info(i).count() * size, i});
  }
  stable_sort(ranges, [](range const& a, range const& b) { return a.block != b.block ? a.block < b.block : a.first < b.first; });
  for (int k = 1; k < ranges.size(); ++k) {
    range const& before = ranges[k - 1];
    range& r = ranges[k];
    if (r.block != before.block || r.first >= before.end) continue;
    shared[r.leaf] = shared[before.leaf];
    if (r.end < before.end) r.end = before.end;
  }
  return shared;
}

}  // namespace tx::passes
