// What is made of a gradient that a repeated block stacks moves into the block that computes it: sums of parts, squares of a norm, an
// optimizer's update. So the gradient of all iterations never exists; each slice is used up where it is complete.
//
//   before   G = result(backward block), stacked [12, 8, 8]; m' = 0.9 * m + G, w' = w - 0.1 * m' replace the leaves m and w [12, 8, 8]
//   after    in the block, where g [8, 8] is made: m1' = 0.9 * m1 + g, w1' = w1 - 0.1 * m1', of slices m1 and w1 that it is handed;
//            M = result(block), W = result(block) replace m and w
//
// What may move reads, beside what the block stacks, only leaves (or arguments) of as many slices and numbers that do not wait for the block.
// It keeps slices apart: elementwise ops, sums over ranks, what they divide along an axis within a slice, sums along rows, reshapes, broadcasts and transposes within a slice. A sum over all rows moves in part: each
// iteration adds up its slice, and what it gives is added up outside. Nothing moves that others read whole, unless it is such a sum or
// replaces a leaf: it would have to be stacked in the gradient's place. A gradient's sum over ranks may: nothing else reads the gradient. Only nodes of step_phase::update move, and casts.
#pragma once

#include <tx/graph/numbers_read.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/passes/hand_in.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::passes {

namespace detail {

class sinker {
 public:
  // Into the body of region `body`, from the region around it.
  constexpr sinker(graph& g, int body)
      : g_(g), body_(body), around_(g.regions[body].parent), owner_(g.regions[body].owner), slices_(g.regions[body].iterations),
        first_own_(g.size()), waits_(g.size(), 0), moves_(g.size(), 0), stays_(g.size(), 0), inside_(g.size(), -1), outside_(g.size(), -1) {}

  constexpr bool run() {
    if (!stacks_what_is_updated()) return false;
    find_waiting();
    while (find_moving()) {}
    bool any = false;
    for (int id = 0; id < first_own_; ++id) any = any || moves_[id];
    if (any) move();
    return any;
  }

 private:
  constexpr region const& body() const { return g_.regions[body_]; }
  constexpr bool is_stacked_here(int id) const { return g_[id].op == &result_info && g_.input(id, 0) == owner_ && result_number(g_[id].at) >= body().carries; }

  // Part of what is made of gradients; they may be rounded first.
  constexpr bool is_use(int id) const { return g_[id].when == step_phase::update || g_[id].op == &cast_info; }

  constexpr bool stacks_what_is_updated() const {
    for (int id = owner_ + 1; id < g_.size(); ++id) {
      if (g_[id].region != around_ || !is_use(id)) continue;
      for (int k = 0; k < g_[id].inputs; ++k)
        if (is_stacked_here(g_.input(id, k))) return true;
    }
    return false;
  }

  // Values of the program that the loops around the body have to end for. Nodes stand in their order.
  constexpr void find_waiting() {
    int outermost = owner_;
    while (g_[outermost].region != 0) outermost = g_.regions[g_[outermost].region].owner;
    vec<vec<int>> const numbers = tx::detail::numbers_read(g_);
    waits_[outermost] = 1;
    for (int id = outermost + 1; id < g_.size(); ++id) {
      node const& n = g_[id];
      if (n.region != 0) continue;
      for (int k = 0; k < n.inputs; ++k) waits_[id] = waits_[id] || waits_[g_.input(n, k)];
      if (n.op->kind == op_kind::region)
        for (int number : numbers[run_region(n.at)]) waits_[id] = waits_[id] || waits_[number];
    }
  }

  // ---- what moves ------------------------------------------------------------------------------------------------------

  // A slice of a value of the region around: [N, ...] -> [...], [N a, ...] -> [a, ...].
  constexpr bool has_slices(shape const& all) const { return all.rank > 0 && !all.is_bounded(0) && all.dim[0] > 0 && all.dim[0] % slices_ == 0; }
  constexpr shape slice_of(shape all) const {
    if (all.dim[0] != slices_) {
      all.dim[0] /= slices_;
      return all;
    }
    return all.inner();
  }

  // One number, seen from everywhere, that is known before the body runs; -1: it is none.
  constexpr int known_number(int id) const {
    while (!g_.is_number_of_program(id) && (g_[id].op == &broadcast_info || g_[id].op == &reshape_info)) id = g_.input(id, 0);
    return g_.is_number_of_program(id) && !waits_[id] ? id : -1;
  }
  constexpr bool is_sliced_leaf(int id) const {
    node const& n = g_[id];
    bool const leaf = n.op == &parameter_info || n.op == &block_info || n.op == &scalar_info || (n.op == &argument_info && n.region == around_);
    return leaf && n.region == around_ && n.info.dims.rank > 0 && n.info.dims.dim[0] == slices_;
  }
  constexpr bool is_partial_sum(int id) const { return g_[id].op->kind == op_kind::col_reduce && g_.info(g_.input(id, 0)).dims.rank > 1; }

  constexpr bool keeps_slices_apart(int id) const {
    node const& n = g_[id];
    if (is_partial_sum(id)) return true;
    if (!has_slices(n.info.dims)) return false;
    if (n.op == &reshape_info) return true;
    if (n.op == &transpose_info) return known_number(g_.input(n, 0)) < 0 && source_axis(n.at, 0) == 0 && n.info.dims.dim[0] == slices_;
    if (n.op->along_axis) return n.at.v[0] > 0 && n.info.dims.dim[0] == slices_;
    shape const& from = n.inputs > 0 ? g_.info(g_.input(n, 0)).dims : n.info.dims;
    if (n.op == &broadcast_info) return from.rank == n.info.dims.rank && from.dim[0] == n.info.dims.dim[0];
    if (n.op->kind == op_kind::row_reduce) return from.rank > 1;
    bool const by_element = n.op->kind == op_kind::elementwise || (n.op->kind == op_kind::collective && n.op->each_element);
    return by_element && n.info.count() > 1;  // a leaf that is a number is read everywhere: none replaces it in a body
  }

  // A gradient summed over ranks, which is as large, perhaps scaled and rounded.
  constexpr bool sums_over_ranks(int id) const {
    while (g_[id].op->kind == op_kind::elementwise && moves_[id]) {
      int next = -1;
      for (int k = 0; k < g_[id].inputs; ++k) {
        if (known_number(g_.input(id, k)) >= 0) continue;
        if (next >= 0) return false;
        next = g_.input(id, k);
      }
      if (next < 0) return false;
      id = next;
    }
    if (g_[id].op->kind != op_kind::collective || !moves_[id]) return false;
    int from = g_.input(id, 0);
    while (g_[from].op == &cast_info && moves_[from]) from = g_.input(from, 0);
    return is_stacked_here(from);
  }

  constexpr bool can_move(int id) const {
    if (g_[id].region != around_ || !is_use(id) || !keeps_slices_apart(id) || known_number(id) >= 0) return false;
    for (int k = 0; k < g_[id].inputs; ++k) {
      int const in = g_.input(id, k);
      bool const inside = is_stacked_here(in) || (moves_[in] && !is_partial_sum(in));
      if (!inside && known_number(in) < 0 && !is_sliced_leaf(in)) return false;
    }
    return true;
  }
  // Of what can move, only what is made of the body's results, and what that reads.
  constexpr void leave_strangers() {
    vec<char> joined(first_own_, 0);
    for (int id = owner_ + 1; id < first_own_; ++id)
      for (int k = 0; k < g_[id].inputs && moves_[id]; ++k) joined[id] = joined[id] || is_stacked_here(g_.input(id, k)) || joined[g_.input(id, k)];
    for (int id = first_own_ - 1; id > owner_; --id)
      for (int k = 0; k < g_[id].inputs && joined[id]; ++k) joined[g_.input(id, k)] = 1;
    for (int id = 0; id < first_own_; ++id) moves_[id] = moves_[id] && joined[id];
  }

  // One round: what can move does, and of that, what must be there whole for somebody else does not. True: another round is needed.
  constexpr bool find_moving() {
    vec<char> const before = moves_;
    for (int id = owner_ + 1; id < first_own_; ++id) moves_[id] = !stays_[id] && can_move(id);
    leave_strangers();
    vec<char> read_whole(first_own_, 0);
    for (int id = owner_ + 1; id < first_own_; ++id)
      if (!moves_[id])
        for (int k = 0; k < g_[id].inputs; ++k) read_whole[g_.input(id, k)] = 1;
    for (int value : g_.regions[around_].results) read_whole[value] = 1;
    for (output const& o : g_.outputs)
      if (o.kind != output_kind::assign) read_whole[o.value] = 1;
    for (int id = owner_ + 1; id < first_own_; ++id) {
      bool const reduces = g_[id].op->kind == op_kind::row_reduce || is_partial_sum(id) || g_.info(id).count() <= slices_ || sums_over_ranks(id);
      if (moves_[id] && read_whole[id] && !reduces && !replaces(id)) stays_[id] = 1;
    }
    bool changed = false;
    for (int id = 0; id < first_own_; ++id) changed = changed || (moves_[id] && stays_[id]) || moves_[id] != before[id];
    return changed;
  }
  // Is it stored over a leaf, or the next value of a carry of the region around?
  constexpr bool replaces(int id) const {
    for (output const& o : g_.outputs)
      if (o.kind == output_kind::assign && o.value == id) return true;
    region const& r = g_.regions[around_];
    for (int k = 0; k < r.carries; ++k)
      if (r.results[k] == id) return true;
    return false;
  }

  // ---- the move --------------------------------------------------------------------------------------------------------

  constexpr void move() {
    for (int id = owner_ + 1; id < first_own_; ++id)
      if (moves_[id]) inside_[id] = emit_inside(id);
    g_.current = around_;  // others read what the body now stacks
    for (int id = owner_ + 1; id < first_own_; ++id) {
      if (moves_[id]) continue;
      for (int k = 0; k < g_[id].inputs; ++k) {
        int const seen = seen_outside(g_.input(id, k));
        g_.operands[g_[id].first + k] = seen;
      }
    }
    for (int r = 0; r < g_.regions.size(); ++r) {
      if (r == body_) continue;
      for (int k = 0; k < g_.regions[r].results.size(); ++k) {
        int const seen = seen_outside(g_.regions[r].results[k]);
        g_.regions[r].results[k] = seen;
      }
    }
    for (int k = 0; k < g_.outputs.size(); ++k) {
      int const seen = seen_outside(g_.outputs[k].value);
      g_.outputs[k].value = seen;
    }
    g_.current = 0;
    g_.site = 0;
  }

  constexpr int emit_inside(int id) {
    node const n = g_[id];
    g_.current = body_;
    g_.when = n.when;
    g_.site = n.site;
    if (n.op == &reshape_info || n.op == &broadcast_info) {
      var const from{&g_, slice_inside(g_.input(n, 0), {})};
      shape const to = slice_of(n.info.dims);
      return n.op == &reshape_info ? reshape(from, to).id : broadcast_to(from, to).id;
    }
    if (n.op == &transpose_info) {
      attributes order{};
      for (int a = 1; a < n.info.dims.rank; ++a) set_source_axis(order, a - 1, source_axis(n.at, a) - 1);
      return transpose(var{&g_, slice_inside(g_.input(n, 0), {})}, order).id;
    }
    attributes at = n.at;
    if (n.op->along_axis) --at.v[0];
    vec<int> in{};
    for (int k = 0; k < n.inputs; ++k) in.push_back(slice_inside(g_.input(n, k), g_.info(g_.input(n, k)).dims));
    if (n.op->kind == op_kind::elementwise) return g_.emit(n.op, in.data(), in.size(), n.at, {n.info.type, slice_of(n.info.dims)});
    return g_.emit(n.op, in.data(), in.size(), at);
  }

  // What the body sees of an operand; a number is repeated to the slice of extents `all`, a copy: the table of nodes, in which they may lie, grows.
  constexpr int slice_inside(int id, shape const all) {
    if (is_stacked_here(id)) return body().results[result_number(g_[id].at)];
    if (moves_[id]) return inside_[id];
    if (int const number = known_number(id); number >= 0) {
      var const one{&g_, number};
      return all.rank == 0 ? one.id : broadcast_to(one.dims().rank == 0 ? one : reshape(one, shape{}), slice_of(all)).id;
    }
    return slice_handed_in(g_, body_, id, {g_.info(id).type, slice_of(g_.info(id).dims)});
  }

  // What the region around sees of a value that has moved.
  constexpr int seen_outside(int id) {
    if (id >= first_own_ || !moves_[id]) return id;
    if (outside_[id] >= 0) return outside_[id];
    value_info const slice = g_.info(inside_[id]);
    g_.regions[body_].results.push_back(inside_[id]);
    g_.when = g_[id].when;
    value_info stacked{slice.type, extents(slices_)};
    for (int a = 0; a < slice.dims.rank; ++a) stacked.dims.add(slice.dims.at(a));
    var seen{&g_, g_.emit(&result_info, &owner_, 1, of_result(body().results.size() - 1), stacked)};
    if (is_partial_sum(id)) seen.id = g_.emit(g_[id].op, &seen.id, 1, g_[id].at);
    return outside_[id] = reshape(seen, g_.info(id).dims).id;
  }

  graph& g_;
  int body_, around_, owner_, slices_;
  int first_own_;       // nodes from here on are made by the move
  vec<char> waits_;     // node -> has it to wait for the loops around the body?
  vec<char> moves_;
  vec<char> stays_;
  vec<int> inside_;     // node that moves -> what the body has in its place
  vec<int> outside_;    // node that moves -> what those outside read
};

}  // namespace detail

// Outer bodies first: what moves into one may move on into a body inside it, as sums of a carry do. What replaces a leaf stays in the outer
// one: slices of slices are stored over no leaf that is read.
constexpr void sink(graph& g) {
  vec<int> outer_first{};
  for (int loops = 1; loops <= max_loops; ++loops)
    for (int r = 1; r < g.regions.size(); ++r)
      if (g.regions[r].owner >= 0 && g.loops_around(r) == loops) outer_first.push_back(r);
  for (int r : outer_first) {
    if (g.regions[r].owner < 0) continue;
    detail::sinker into(g, r);  // by name: nvcc does not destroy one that only a condition makes
    if (into.run()) g = rewrite(g, detail::as_it_is{});
  }
}

}  // namespace tx::passes
