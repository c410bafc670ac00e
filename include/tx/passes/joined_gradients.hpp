// Gradients of queries, keys and values that are handed on as halves come side by side, where there are as many queries as keys: so the product of all three by their joined weights wants
// them (neighbours.hpp), and nothing copies them there, as cast<half>(cast<f32>(h)) is h. For targets that join such. Where nobody joins them their rows lie further apart.
//
//   before   dq, dk, dv = attention_gradient(...), [16384, 768] of bf16 each; join(cast<bf16>(cast<f32>(dq)), ...) [16384, 2304]
//   after    d = joined_attention_gradient(...) [16384, 2304]; dq, dk and dv are slices of it
#pragma once

#include <tx/ops/attention.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/slice.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::passes {

namespace detail {

struct gradients_side_by_side {
  constexpr int operator()(graph& to, int, node& n, vec<int>& in) const {
    if (n.op == &attention_gradient_info && comes_joined(to, n, in)) return to.emit(&joined_attention_gradient_info, in.data(), in.size(), n.at);
    if (n.op == &result_info && to[in[0]].op == &joined_attention_gradient_info) return part(to, in[0], static_cast<int>(result_number(n.at)));
    return n.op == &cast_info && is_half(n.info.type) ? as_before(to, n, in[0]) : -1;
  }

 private:
  static constexpr bool comes_joined(graph const& g, node const& n, vec<int> const& in) {
    attention_facts const f = attention_facts_of(n.at);
    value_info const of[] = {g.info(in[4]), g.info(in[5])};
    return f.rounds && of[0].dims.bounds == 0 && tx::detail::as_many_tokens(f, of);
  }
  // Of q, k and v.
  static constexpr int part(graph& g, int all, int number) {
    int const width = static_cast<int>(g.info(g.input(all, 4)).dims.last()), key_width = static_cast<int>(g.info(g.input(all, 5)).dims.last());
    int const first = number == 0 ? 0 : width + (number - 1) * key_width;
    return slice({&g, all}, g.info(all).dims.rank - 1, first, number == 0 ? width : key_width, 1).id;
  }
  static constexpr int base_of(graph const& g, int id) {
    while (g[id].op->kind == op_kind::view) id = g.input(id, 0);
    return id;
  }
  // Halves behind cast<half>(views(cast<f32>(halves))): the same views of them; -1: it is something else.
  static constexpr int as_before(graph& g, node const& n, int value) {
    vec<int> views{};
    for (; g[value].op->kind == op_kind::view; value = g.input(value, 0)) views.push_back(value);
    if (g[value].op != &cast_info || g.info(value).type != dtype::f32 || g.info(g.input(value, 0)).type != n.info.type) return -1;
    value = g.input(value, 0);
    if (g[base_of(g, value)].op != &joined_attention_gradient_info) return -1;  // others keep the rounding: its kernel is what copies them to their place in the join
    for (int k = views.size() - 1; k >= 0; --k) {
      node const view = g[views[k]];
      vec<int> in{value};
      for (int i = 1; i < view.inputs; ++i) in.push_back(g.input(view, i));
      value = g.emit(view.op, in.data(), in.size(), view.at, {n.info.type, view.info.dims});
    }
    return value;
  }
};

}  // namespace detail

constexpr graph joined_gradients(graph const& g) { return rewrite(g, detail::gradients_side_by_side{}); }

}  // namespace tx::passes
