// A parameter that a loop rounds is rounded before the loop, which then sees the rounded one: slice by slice, or whole in the loop over parts of a batch. For targets on which a kernel over one
// slice leaves most of the machine idle: mixed precision rounds each weight in each iteration, forward and again backward.
//
//   before   W [12, 768, 768] f32; in the loop w is its slice, and reads cast<bf16>(w)
//   after    H = cast<bf16>(W) [12, 768, 768]; in the loop, and in the backward loop, h is its slice
//
// A bias that is repeated and rounded is rounded first, in a loop or not: cast<bf16>(broadcast(b)) becomes broadcast(cast<bf16>(b)).
//
// What this costs is room: all rounded parameters exist from their first reader to their last.
#pragma once

#include <tx/ops/cast.hpp>
#include <tx/passes/hand_in.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::passes {

namespace detail {

class hoister {
 public:
  constexpr explicit hoister(graph& g) : g_(g) {}

  // Of the nodes of a body; what moves out of it may move on.
  constexpr void out_of(int body) {
    for (int id = 0; id < g_.size(); ++id)
      if (g_[id].region == body && is_rounded_parameter(id)) move(id, body);
  }
  constexpr bool any() const { return any_; }

 private:
  // cast<half>(argument), which sees a parameter, whole or a slice.
  constexpr bool is_rounded_parameter(int id) const {
    node const& n = g_[id];
    if (n.op != &cast_info || !is_half(n.info.type)) return false;
    int const from = g_.input(n, 0);
    if (g_[from].op != &argument_info || g_[from].region != n.region) return false;
    int const leaf = outermost(g_, from);
    return leaf >= 0 && g_[leaf].op == &parameter_info;
  }

  constexpr void move(int id, int body) {
    int const argument = g_.input(id, 0), k = argument_number(g_[argument].at);
    region const& b = g_.regions[body];
    value_info const rounded = g_.info(id);
    go_on_in(g_, b.parent, g_[id]);
    int const whole = cast({&g_, g_.input(b.owner, k)}, rounded.type).id;
    replace_everywhere(g_, id, k < b.carries + b.invariants ? invariant_handed_in(g_, body, whole) : slice_handed_in(g_, body, whole, rounded));
    any_ = true;
  }

  graph& g_;
  bool any_ = false;
};

// Views of a rounded leaf in place of a rounded repetition of it.
struct rounding_first {
  constexpr int operator()(graph& to, int, node& n, vec<int>& in) const {
    if (n.op != &cast_info || !is_half(n.info.type)) return -1;
    int leaf = in[0];
    while (to[leaf].op->kind == op_kind::view) leaf = to.input(leaf, 0);
    bool const fewer = to.info(leaf).count() < n.info.count();
    if (!fewer || to[leaf].region != n.region || (to[leaf].op != &parameter_info && to[leaf].op != &argument_info)) return -1;
    return viewed(to, in[0], cast({&to, leaf}, n.info.type).id);
  }

 private:
  // The views of another value that `id` is of a leaf.
  static constexpr int viewed(graph& to, int id, int other) {
    node const n = to[id];
    if (n.op->kind != op_kind::view) return other;
    int const of = viewed(to, to.input(n, 0), other);
    return to.emit(n.op, &of, 1, n.at, {to.info(other).type, n.info.dims});
  }
};

}  // namespace detail

constexpr graph hoist(graph g) {
  g = rewrite(g, detail::rounding_first{});
  detail::hoister out(g);
  for (int loops = max_loops; loops > 0; --loops)  // inner bodies first
    for (int r = 1; r < g.regions.size(); ++r)
      if (g.regions[r].owner >= 0 && g.loops_around(r) == loops) out.out_of(r);
  g.current = 0;
  g.site = 0;
  if (!out.any()) return g;
  return rewrite(g, detail::as_it_is{});
}

}  // namespace tx::passes
