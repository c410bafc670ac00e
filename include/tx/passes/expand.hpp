// Attention written as products (ops/written_attention.hpp), for targets that have no kernel for it, or none that is better for scores that fit
// into a band. After differentiation, so that its gradient is written out here too.
//
//   before   out, greatest, log_sum = attention(q, k, v), dq, dk, dv = attention_gradient(dout, out, greatest, log_sum, q, k, v)
//   after    the products, softmax and sums that written_attention.hpp shows; out, ..., dq, dk and dv are what those give
#pragma once

#include <tx/ops/attention.hpp>
#include <tx/ops/written_attention.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::passes {

// Says which attention a target runs by a kernel; null: none.
using attention_kernel = bool (*)(attention_shape const&);

namespace detail {

constexpr attention_shape attention_shape_of(graph const& g, int id) {
  node const& n = g[id];
  int const first = attention_operands_at(n.op);
  attention_facts const f = attention_facts_of(n.at);
  shape const offsets = f.packed() ? g.info(g.input(n, first + 3 + f.query_offsets_at())).dims : shape{};
  dtype const bias = f.bias ? g.info(g.input(n, first + 3 + f.bias_at())).type : dtype::f32;
  return tx::attention_shape_of(f, g.info(g.input(n, first)), g.info(g.input(n, first + 1)).dims, offsets, bias);
}
constexpr bool is_attention(graph const& g, int id) { return attention_operands_at(g[id].op) >= 0; }

struct expansion {
  graph const& from;
  attention_kernel runs;
  vec<vec<int>>& results;  // old node -> what its results are

  constexpr int operator()(graph& to, int id, node& n, vec<int>& in) const {
    if (from.is_result_of_op(id) && !results[from.input(id, 0)].empty()) return results[from.input(id, 0)][result_number(n.at)];
    if (!is_attention(from, id) || (runs != nullptr && runs(attention_shape_of(from, id)))) return -1;
    if (n.op == &attention_info) {
      tx::detail::written_attention(to, n.at, in.data()).forward(results[id]);
    } else {
      bool const of_bias = n.op == &biased_attention_gradient_info;
      tx::detail::written_attention(to, n.at, in.data() + attention_operands_at(n.op)).backward({&to, in[0]}, {&to, in[2]}, {&to, in[3]}, of_bias, results[id]);
    }
    return results[id][0];
  }
};

}  // namespace detail

// Simplified too. runs: what the target has a kernel for.
constexpr graph expand(graph const& g, attention_kernel runs) {
  bool any = false;
  for (int i = 0, end = g.size(); i < end; ++i) any = any || detail::is_attention(g, i);
  if (!any) return simplify(g);
  vec<vec<int>> results(g.size());
  return simplify(g, detail::expansion{g, runs, results});
}

}  // namespace tx::passes
