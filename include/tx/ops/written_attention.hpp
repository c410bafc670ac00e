// Attention (attention.hpp) written as products, with its gradient, for which it needs two numbers of each query of what the forward pass
// computes: the probabilities are exp(scores - greatest - log_sum).
//
//   out, greatest, log_sum = attention(q, k, v)         q, k, v: [texts, places, heads * head]; q is multiplied by the scale first, and dq last
//     s = matmul(Q, transpose(K)), e = exp(s - max(s))    Q, K, V: heads apart, [texts, heads, places, head]
//     out = matmul(e / sum(e), V), greatest = max(s), log_sum = log(sum(e))
//   dq, dk, dv = attention_gradient(dout, out, greatest, log_sum, q, k, v)
//     p = exp(s - greatest - log_sum), dp = matmul(dO, transpose(V)), ds = p * (dp - sum(dp * p))
//     dq = matmul(ds, K), dk = matmul(transpose(ds), Q), dv = matmul(transpose(p), dO)
//
// Packed texts are padded for that, see padded_texts.hpp. What is to be differentiated again takes the probabilities from the scores alone.
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/attention_facts.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/padded_texts.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/ops/where.hpp>

namespace tx::detail {

// What both directions make of one attention's operands.
class written_attention {
 public:
  // in: q, k, v and those behind.
  constexpr written_attention(graph& to, attributes const& at, int const* in)
      : f_(attention_facts_of(at)), q_{&to, in[0]}, k_{&to, in[1]}, v_{&to, in[2]} {
    if (f_.scale != 1) q_ = cast(cast(q_, sum_type(q_.type())) * f_.scale, q_.type());
    int next = 3;
    if (f_.packed()) {
      of_queries_ = {{&to, in[3 + f_.query_offsets_at()]}, f_.longest, q_.dims()};
      of_keys_ = f_.keys_apart() ? padded_texts({&to, in[3 + f_.key_offsets_at()]}, f_.key_longest, k_.dims()) : of_queries_;
      next += f_.offset_lists();
      mask_ = of_keys_.seen();
      q_ = of_queries_.padded(q_);
      for (var* x : {&k_, &v_}) *x = of_keys_.padded(*x);
    }
    if (f_.mask) mask_ = {&to, in[next++]};
    if (f_.bias) bias_ = {&to, in[next++]};
    if (f_.dropout) {
      noise_ = {&to, in[next++]};
      rate_ = {&to, in[next]};
    }
    texts_ = q_.dims().at(0);
    queries_ = q_.dims().at(1);
    keys_ = k_.dims().at(1);
    head_ = q_.dims().dim[2] / f_.heads;
  }

  constexpr void forward(vec<int>& results) const {
    var const s = scores(masked_score);
    var const most = max_fn<-1>{}(s);
    var const e = exp(s - most);
    var const sum = sum_fn<-1>{}(e);
    var const mixed = multiplied(by_key_head(rounded(dropped(e / sum)), keys_), apart(v_, f_.key_heads));  // [texts, key heads, queries of a group, head]
    results.push_back(as_queries(mixed).id);
    for (var const x : {most, log(sum)}) results.push_back(reshape(x, extents(texts_, f_.heads, queries_)).id);
  }

  // The numbers of each query may be not valid().
  constexpr void backward(var d_out, var greatest, var log_sum, bool of_bias, vec<int>& results) const {
    if (f_.packed()) d_out = of_queries_.padded(d_out);
    var const p = greatest.valid() ? probabilities_by(greatest, log_sum) : probabilities();
    var const of_out = by_key_head(apart(d_out, f_.heads), head_);
    // The sum is that of dout * out too; this one is over the row that a kernel has at hand.
    var const of_probabilities = dropped(reshape(matmul(of_out, transpose(apart(v_, f_.key_heads))), scores_shape()));
    var slope = p * (of_probabilities - sum_fn<-1>{}(of_probabilities * p));
    if (var const seen = sees(); seen.valid()) slope = where(seen, slope, 0.0);
    var const ds = by_key_head(rounded(slope), keys_);  // [texts, key heads, queries of a group, keys]
    var const d_q = as_queries(matmul(ds, apart(k_, f_.key_heads)));
    results.push_back((f_.scale != 1 ? d_q * f_.scale : d_q).id);
    results.push_back(as_keys(matmul(transpose(ds), by_key_head(apart(q_, f_.heads), head_))).id);
    results.push_back(as_keys(matmul(transpose(by_key_head(rounded(dropped(p)), keys_)), of_out)).id);
    if (of_bias) results.push_back(summed_to(slope, bias_.dims()).id);
  }

 private:
  constexpr var probabilities() const {
    var const s = scores(masked_score), e = exp(s - max_fn<-1>{}(s));
    return e / sum_fn<-1>{}(e);
  }
  constexpr var probabilities_by(var greatest, var log_sum) const {
    shape const row = extents(texts_, f_.heads, queries_, 1);
    return exp(scores(masked_score) - reshape(greatest, row) - reshape(log_sum, row));
  }

  constexpr shape scores_shape() const { return extents(texts_, f_.heads, queries_, keys_); }

  // [texts, heads, places, x] <-> [texts, places, heads, x]
  static constexpr var swapped(var x) { return transpose(x, attributes{{0, 2, 1, 3}}); }
  // [texts, places, heads * head] -> [texts, heads, places, head]
  constexpr var apart(var x, int heads) const { return swapped(reshape(x, extents(texts_, x.dims().at(1), heads, head_))); }
  // [texts, key heads, ...] -> [texts, places, heads * head]
  constexpr var together(var x, bounded places, int heads) const {
    var const by_head = reshape(x, extents(texts_, heads, places, head_));
    return reshape(swapped(by_head), extents(texts_, places, heads * head_));
  }
  // In the shape of q, or of k and v, as they are given.
  constexpr var as_queries(var x) const { return as_given(together(x, queries_, f_.heads), of_queries_); }
  constexpr var as_keys(var x) const { return as_given(together(x, keys_, f_.key_heads), of_keys_); }
  constexpr var as_given(var x, padded_texts const& texts) const { return f_.packed() ? texts.packed(x) : x; }
  // Heads of one key head stand among its queries, so that neither keys nor values are repeated.
  constexpr var by_key_head(var x, bounded columns) const {
    return reshape(x, extents(texts_, f_.key_heads, queries_ * (f_.heads / f_.key_heads), columns));
  }

  // To halves where q is of such, where it is computed: what a product reads is a view of that.
  constexpr var rounded(var x) const { return cast(x, q_.type()); }
  // Rounded, as mixed precision rounds products of the forward pass.
  constexpr var multiplied(var a, var b) const { return rounded(matmul(a, b)); }

  constexpr var scores(double left_out) const {
    var const of_groups = multiplied(by_key_head(apart(q_, f_.heads), head_), transpose(apart(k_, f_.key_heads)));
    var s = reshape(cast(of_groups, sum_type(q_.type())), scores_shape());
    if (bias_.valid()) s = maximum(s + cast(bias_of_places(), s.type()), lowest_score);
    if (var const seen = sees(); seen.valid()) s = where(seen, s, left_out);
    return s;
  }
  // Past a packed text's end it may be anything.
  constexpr var bias_of_places() const {
    return f_.packed() ? where(reshape(of_queries_.seen(), extents(texts_, 1, queries_, 1)), bias_, 0.0) : bias_;
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
    if (mask_.valid()) only(reshape(mask_, extents(texts_, 1, 1, keys_)));
    return seen;
  }
  constexpr var dropped(var x) const { return f_.dropout ? tx::detail::dropped(x, noise_, rate_, dropout_scale(rate_)) : x; }
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
  padded_texts of_queries_{}, of_keys_{};
  bounded texts_, queries_, keys_;
  int head_;
};

}  // namespace tx::detail
