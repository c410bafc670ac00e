// A carry that a loop rounds for its products is rounded by the kernel that makes it, in the iteration before, and goes on as a second carry. For targets on which
// a kernel over one value is a launch more, and reads all of it again.
//
//   before   x is carried [16384, 768] f32; each iteration begins with h = cast<bf16>(x) and ends with x = y
//   after    x and h are carried; each iteration ends with x = y, h = cast<bf16>(y)
//
// What this costs is room: h exists from one iteration to the next.
#pragma once

#include <tx/ops/cast.hpp>
#include <tx/passes/hand_in.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::passes {

namespace detail {

class carry_rounder {
 public:
  constexpr explicit carry_rounder(graph& g) : g_(g) {}

  constexpr bool run() {
    for (int r = 1, end = g_.regions.size(); r < end; ++r)
      for (int k = 0, carries = g_.regions[r].owner < 0 ? 0 : g_.regions[r].carries; k < carries; ++k)
        if (int const rounded = rounding_of(r, k); rounded >= 0) carry(r, k, rounded);
    g_.current = 0;
    g_.site = 0;
    return any_;
  }

 private:
  // The node that rounds carry k for readers that want it in memory; -1: there is none.
  constexpr int rounding_of(int r, int k) const {
    int const argument = g_.regions[r].arguments[k];
    for (int id = argument + 1; id < g_.size(); ++id)
      if (rounds(id, argument) && is_stored(id)) return id;
    return -1;
  }
  constexpr bool rounds(int id, int value) const { return g_[id].op == &cast_info && is_half(g_.info(id).type) && g_.input(id, 0) == value; }
  // Has it readers, and do none of them work element by element? Those would round anew what they read anyway.
  constexpr bool is_stored(int value) const {
    bool read = false;
    for (int id = 0; id < g_.size(); ++id)
      for (int k = 0; k < g_[id].inputs; ++k) {
        if (g_.input(id, k) != value) continue;
        op_kind const kind = g_[id].op->kind;
        if (kind == op_kind::view ? !is_stored(id) : kind != op_kind::product && kind != op_kind::whole) return false;
        read = true;
      }
    return read;
  }

  constexpr void carry(int r, int k, int rounded) {
    any_ = true;
    value_info const info = g_.info(rounded);
    int const owner = g_.regions[r].owner, parent = g_.regions[r].parent;
    go_on_in(g_, r, g_[rounded]);
    int const next = cast({&g_, int{g_.regions[r].results[k]}}, info.type).id;
    go_on_in(g_, parent, g_[owner]);
    int const first = cast({&g_, g_.input(owner, k)}, info.type).id;
    int const argument = one_more_carry(g_, r, first, next, info);
    replace_everywhere(g_, rounded, argument);
    for (int id = 0, end = g_.size(); id < end; ++id) {  // who rounds the last one has it already
      if (g_[id].region != parent || g_[id].op != &result_info || g_.input(id, 0) != owner || result_number(g_[id].at) != k) continue;
      for (int reader = 0; reader < end; ++reader)
        if (rounds(reader, id) && g_.info(reader) == info && g_[reader].region == parent) {
          go_on_in(g_, parent, g_[reader]);
          replace_everywhere(g_, reader, g_.emit(&result_info, &owner, 1, of_result(g_.regions[r].carries - 1), info));
        }
    }
  }

  graph& g_;
  bool any_ = false;
};

}  // namespace detail

constexpr graph rounded_carries(graph g) {
  if (!detail::carry_rounder(g).run()) return g;
  return rewrite(g, detail::as_it_is{});
}

}  // namespace tx::passes
