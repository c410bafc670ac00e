// Attention written as products, for targets that have no kernel for it, or none that is better for scores that stay in the cache. After
// differentiation, so that its gradient is written out here too: of what the forward pass computes it needs `lse` alone, and the shares are
// exp(scores - lse).
//
//   before   out, lse = attention(q, k, v)                                   [texts, places, heads * head]
//   after    s = matmul(Q, transpose(K)), e = exp(s - max(s))                 Q, K, V: heads apart, [texts, heads, places, head]
//            out = matmul(e / sum(e), V), lse = max(s) + log(sum(e))
//   before   dq, dk, dv = attention_gradient(dout, out, lse, q, k, v)
//   after    p = exp(s - lse), dp = matmul(dO, transpose(V)), ds = p * (dp - sum(dp * p))
//            dq = matmul(ds, K), dk = matmul(transpose(ds), Q), dv = matmul(transpose(p), dO)
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/attention.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::passes {

// Says which attention a target runs by a kernel; null: none.
using attention_kernel = bool (*)(attention_shape const&);

namespace detail {

// One node's operands in the new graph, and what both directions make of them.
class written_attention {
 public:
  // in: q, k, v and those behind.
  constexpr written_attention(graph& to, attributes const& at, int const* in)
      : f_(attention_facts_of(at)), q_{&to, in[0]}, k_{&to, in[1]}, v_{&to, in[2]} {
    int next = 3;
    if (f_.mask) mask_ = {&to, in[next++]};
    if (f_.bias) bias_ = {&to, in[next++]};
    if (f_.dropout) {
      noise_ = {&to, in[next++]};
      rate_ = {&to, in[next]};
    }
    texts_ = q_.dims().dim[0];
    queries_ = q_.dims().dim[1];
    keys_ = k_.dims().dim[1];
    head_ = q_.dims().dim[2] / f_.heads;
  }

  constexpr void forward(vec<int>& results) const {
    var const s = scores(masked_score);
    var const most = tx::detail::max_fn<-1>{}(s);
    var const e = exp(s - most);
    var const sum = tx::detail::sum_fn<-1>{}(e);
    var const mixed = multiplied(by_key_head(rounded(dropped(e / sum)), keys_), apart(v_, f_.key_heads));  // [texts, key heads, queries of a group, head]
    results.push_back(together(mixed, queries_, f_.heads).id);
    results.push_back(reshape(most + log(sum), shape{3, q_.dims().tag, {texts_, f_.heads, queries_}}).id);
  }

  constexpr void backward(var d_out, var lse, bool of_bias, vec<int>& results) const {
    // A query that sees no key: its scores are lost in lse, and its shares are equal.
    lse = reshape(lse, shape{4, lse.dims().tag, {texts_, f_.heads, queries_, 1}});
    var const sees_none = less(lse, masked_score / 2);
    var const equal_share = constant(*lse.g, lse.type(), -math::log(static_cast<double>(keys_)));
    var const s = maximum(scores(masked_score), where(sees_none, equal_share, masked_score));
    var const p = exp(s - where(sees_none, 0.0, lse));
    var const of_out = by_key_head(apart(d_out, f_.heads), head_);
    // The sum is that of dout * out too; this one is over the row that a kernel has at hand.
    var const of_shares = dropped(reshape(matmul(of_out, transpose(apart(v_, f_.key_heads))), scores_shape()));
    var slope = p * (of_shares - tx::detail::sum_fn<-1>{}(of_shares * p));
    if (var const seen = sees(); seen.valid()) slope = where(seen, slope, 0.0);
    var const ds = by_key_head(rounded(slope), keys_);  // [texts, key heads, queries of a group, keys]
    results.push_back(together(matmul(ds, apart(k_, f_.key_heads)), queries_, f_.heads).id);
    results.push_back(together(matmul(transpose(ds), by_key_head(apart(q_, f_.heads), head_)), keys_, f_.key_heads).id);
    results.push_back(together(matmul(transpose(by_key_head(rounded(dropped(p)), keys_)), of_out), keys_, f_.key_heads).id);
    if (of_bias) results.push_back(summed_to(slope, bias_.dims()).id);
  }

 private:
  constexpr shape scores_shape() const { return {4, q_.dims().tag, {texts_, f_.heads, queries_, keys_}}; }

  // [texts, heads, places, x] <-> [texts, places, heads, x]
  static constexpr var swapped(var x) { return transpose(x, attributes{{0, 2, 1, 3}}); }
  // [texts, places, heads * head] -> [texts, heads, places, head]
  constexpr var apart(var x, int heads) const { return swapped(reshape(x, shape{4, x.dims().tag, {texts_, x.dims().dim[1], heads, head_}})); }
  // [texts, key heads, ...] -> [texts, places, heads * head]
  constexpr var together(var x, int places, int heads) const {
    var const by_head = reshape(x, shape{4, x.dims().tag, {texts_, heads, places, head_}});
    return reshape(swapped(by_head), shape{3, x.dims().tag, {texts_, places, heads * head_}});
  }
  // Heads of one key head stand among its queries, so that neither keys nor values are repeated.
  constexpr var by_key_head(var x, int columns) const {
    return reshape(x, shape{4, x.dims().tag, {texts_, f_.key_heads, f_.heads / f_.key_heads * queries_, columns}});
  }

  // To halves where q is of such, where it is computed: what a product reads is a view of that.
  constexpr var rounded(var x) const { return cast(x, q_.type()); }
  // Rounded, as mixed precision rounds products of the forward pass.
  constexpr var multiplied(var a, var b) const { return rounded(matmul(a, b)); }

  constexpr var scores(double left_out) const {
    var const of_groups = multiplied(by_key_head(apart(q_, f_.heads), head_), transpose(apart(k_, f_.key_heads)));
    var s = reshape(cast(of_groups, sum_type(q_.type())), scores_shape());
    if (bias_.valid()) s = s + cast(bias_, s.type());
    if (var const seen = sees(); seen.valid()) s = where(seen, s, left_out);
    return s;
  }
  // Which keys a query sees; not valid() where it sees all.
  constexpr var sees() const {
    var seen{};
    auto const only = [&](var condition) { seen = seen.valid() ? logical_and(seen, condition) : condition; };
    if (f_.bounds()) {
      graph& g = *q_.g;
      var const key = iota(g, scores_shape(), -1), query = iota(g, scores_shape(), -2);
      var const place = f_.first == 0 ? query : query + f_.first;
      if (f_.causal) only(less_equal(key, place));
      else only(less(key - place, f_.window));
      if (f_.window != 0) only(less(place - key, f_.window));
    }
    if (mask_.valid()) only(reshape(mask_, shape{4, mask_.dims().tag, {texts_, 1, 1, keys_}}));
    return seen;
  }
  constexpr var dropped(var x) const { return f_.dropout ? tx::detail::dropped(x, noise_, rate_, 1.0 / (1.0 - rate_)) : x; }
  // The sum over what `to` is broadcast over.
  static constexpr var summed_to(var x, shape const& to) {
    int axes[4] = {};
    int n = 0;
    for (int a = 0; a < 4; ++a)
      if (to.dim[a] == 1 && x.dims().dim[a] != 1) axes[n++] = a;
    return n == 0 ? x : sum(x, axes, n);
  }

  attention_facts f_;
  var q_, k_, v_, mask_{}, bias_{}, noise_{}, rate_{};
  int texts_, queries_, keys_, head_;
};

constexpr attention_shape attention_shape_of(graph const& g, int id) {
  node const& n = g[id];
  int const first = n.op == &attention_info ? 0 : 3;
  value_info const &q = g.info(g.input(n, first)), &k = g.info(g.input(n, first + 1));
  attention_facts const f = attention_facts_of(n.at);
  return {q.dims.dim[0], q.dims.dim[1], k.dims.dim[1], f.heads, f.key_heads, q.dims.dim[2] / f.heads, q.type};
}
constexpr bool is_attention(graph const& g, int id) {
  op_info const* const op = g[id].op;
  return op == &attention_info || op == &attention_gradient_info || op == &biased_attention_gradient_info;
}

struct expansion {
  graph const& from;
  attention_kernel runs;
  vec<vec<int>>& results;  // old node -> what its results are

  constexpr int operator()(graph& to, int id, node& n, vec<int>& in) const {
    if (from.is_result_of_op(id) && !results[from.input(id, 0)].empty()) return results[from.input(id, 0)][static_cast<int>(n.at.v[0])];
    if (!is_attention(from, id) || (runs != nullptr && runs(attention_shape_of(from, id)))) return -1;
    if (n.op == &attention_info) {
      written_attention(to, n.at, in.data()).forward(results[id]);
    } else {
      bool const of_bias = n.op == &biased_attention_gradient_info;
      written_attention(to, n.at, in.data() + 3).backward({&to, in[0]}, {&to, in[2]}, of_bias, results[id]);
    }
    return results[id][0];
  }
};

}  // namespace detail

// Simplified too. runs: what the target has a kernel for.
constexpr graph expand(graph const& g, attention_kernel runs) {
  bool any = false;
  for (int i = 0; i < g.size(); ++i) any = any || detail::is_attention(g, i);
  if (!any) return simplify(g);
  vec<vec<int>> results(g.size());
  return simplify(g, detail::expansion{g, runs, results});
}

}  // namespace tx::passes
