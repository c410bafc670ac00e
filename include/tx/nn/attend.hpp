// attend(q, k, v, how...): scaled dot-product attention (Vaswani et al., arXiv 1706.03762), softmax(q k^T / sqrt(head)) v, with dropout on the
// probabilities; how: causal, local<W>, a mask of keys, a bias, drop(rate). q [batch, heads, queries, head], k and v [batch, key heads, keys, head] ->
// [batch, heads, queries, head].
// There may be fewer key heads than heads: neighbouring heads share one (grouped queries, Ainslie et al., arXiv 2305.13245). `how`, in any order:
//   causal             a query sees the keys up to its own place; the queries are the last of the keys, where there are more keys
//   local<W>           a query sees the keys less than W places away (Beltagy et al., arXiv 2004.05150)
//   mask [batch, keys]  which keys take part, see key_mask.hpp
//   bias, four axes     added to the scores [batch, heads, queries, keys], or to what broadcasts to them
//   drop(rate)          probabilities are dropped at a rate of their own, as in dropout(x, rate), not at run.settings["dropout"]: a number, or a tensor
//                       without extents such as tx::setting<"attention_dropout">(q, 0.1)
// A query that sees no key has equal probabilities for all. attention_scale<head> is 1 / sqrt(head); attend_scaled takes q that has been multiplied by
// it already, or is not to be. It is recorded as one op, ops/attention.hpp.
#pragma once

#include <tx/nn/key_mask.hpp>
#include <tx/ops/attention.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/transpose.hpp>

namespace tx::nn {

struct causal_t {};
inline constexpr causal_t causal{};
template <int Window>
struct local_t {
  static_assert(Window > 0, "tx::nn::local: a query sees at least its own place. FIX: local<W> with W of at least 1");
};
template <int Window>
inline constexpr local_t<Window> local{};

template <class Rate>
struct dropped_shares {
  Rate rate;
};
template <number R>
constexpr dropped_shares<double> drop(R rate) {
  if (!(rate >= 0 && rate < 1)) throw invalid("attend: a rate of dropout is at least 0 and below 1. FIX: drop(0.1) for a tenth of the probabilities");
  return {static_cast<double>(rate)};
}
template <typed_handle R>
constexpr dropped_shares<R> drop(R const& rate) {
  static_assert(R::dims.rank == 0 && is_float(R::info.type), "tx::nn::drop: the rate is one number, of f32 or f64. FIX: drop(0.1), or a tensor<float> without extents");
  return {rate};
}

namespace detail {

// What stands behind the values, put together.
struct attention_bounds {
  attention_facts facts{};
  var mask{}, bias{}, rate{};
  double fixed_rate = -1;  // below 0: `rate`, or where there is none run.settings["dropout"]
};

// Does it say which keys a query sees by their places?
template <class How>
inline constexpr bool bounds_keys = false;
template <>
inline constexpr bool bounds_keys<causal_t> = true;
template <int Window>
inline constexpr bool bounds_keys<local_t<Window>> = true;

template <shape Scores>
constexpr void add_bound(attention_bounds& to, causal_t) {
  static_assert(Scores.dim[2] <= Scores.dim[3], "tx::nn::attend: causal attention has no more queries than keys. FIX: the keys of all places up to the last query");
  to.facts.causal = true;
}
template <shape Scores, int Window>
constexpr void add_bound(attention_bounds& to, local_t<Window>) {
  to.facts.window = to.facts.window == 0 || Window < to.facts.window ? Window : to.facts.window;
}
template <shape>
constexpr void add_bound(attention_bounds& to, dropped_shares<double> const& d) {
  to.fixed_rate = d.rate;
}
template <shape, typed_handle R>
constexpr void add_bound(attention_bounds& to, dropped_shares<R> const& d) {
  to.rate = maximum(cast(var(d.rate), dtype::f32), 0.0);
}
constexpr void add_bias(attention_bounds& to, var bias) { to.bias = to.bias.valid() ? to.bias + bias : bias; }
template <shape Scores, typed_handle M>
constexpr void add_bound(attention_bounds& to, M const& mask_or_bias) {
  constexpr shape m = M::dims;
  static_assert(m.rank == 2 || (m.rank == 4 && is_float(M::info.type)),
                "tx::nn::attend: what is behind the values is causal, local<W>, a mask [batch, keys], or a bias of four axes that is added to the scores. FIX: reshape it");
  if constexpr (m.rank == 4) {
    add_bias(to, mask_or_bias);
  } else if constexpr (m.rank == 2) {
    static_assert(m.at(0) == Scores.at(0) && m.at(1) == Scores.at(3),
                  "tx::nn: a key mask has the shape [batch, sequence] of the tensor it belongs to. FIX: reshape or broadcast it");
    var const keys = key_mask(mask_or_bias);
    if constexpr (is_float(M::info.type)) add_bias(to, reshape(maximum(keys, masked_score), extents(m.at(0), 1, 1, m.at(1))));
    else to.mask = to.mask.valid() ? logical_and(to.mask, keys) : keys;
  }
}

// in: q, k, v, and of packed texts their offsets.
constexpr var recorded_attention(vec<var> in, attention_bounds const& bounds, shape const& scores) {
  graph& g = *in[0].g;
  attention_facts f = bounds.facts;
  f.mask = bounds.mask.valid();
  f.bias = bounds.bias.valid();
  f.dropout = g.training && bounds.fixed_rate != 0;
  if (f.mask) in.push_back(bounds.mask);
  if (f.bias) in.push_back(bounds.bias);
  if (f.dropout) {
    in.push_back(uniform(g, scores, g.random_streams++));
    in.push_back(bounds.rate.valid() ? bounds.rate : bounds.fixed_rate > 0 ? constant(g, dtype::f32, bounds.fixed_rate) : tx::detail::dropout_rate(g));
  }
  return attention(in, f);
}

}  // namespace detail

template <int Head>
inline constexpr double attention_scale = 1.0 / math::sqrt(static_cast<double>(Head));

namespace detail {

template <typed_handle Q, typed_handle K, typed_handle V, class... How>
constexpr auto attended(double scale, Q const& q, K const& k, V const& v, How const&... how) {
  constexpr shape of_q = Q::dims, of_k = K::dims;
  static_assert(of_q.rank == 4 && of_k.rank == 4 && V::info == K::info && of_q.at(0) == of_k.at(0) && of_q.at(3) == of_k.at(3),
                "tx::nn::attend: it takes q [batch, heads, queries, head], k and v [batch, key heads, keys, head]. FIX: reshape and transpose them");
  static_assert(of_q.dim[1] % of_k.dim[1] == 0, "tx::nn::attend: as many heads share each key head. FIX: a number of heads that the key heads divide");
  constexpr shape scores = extents(of_q.at(0), of_q.at(1), of_q.at(2), of_k.at(2));
  attention_bounds bounds{};
  (add_bound<scores>(bounds, how), ...);
  // [batch, heads, places, head] -> [batch, places, heads * head]
  auto const token_major = [](var x) {
    shape const s = x.dims();
    return reshape(transpose(x, attributes{{0, 2, 1, 3}}), extents(s.at(0), s.at(2), s.at(1) * s.at(3)));
  };
  attention_facts& f = bounds.facts;
  f.heads = of_q.dim[1];
  f.key_heads = of_k.dim[1];
  f.scale = scale;
  static_assert(of_q.at(2) == of_k.at(2) || (!of_q.is_bounded(2) && !of_k.is_bounded(2)) || !(bounds_keys<How> || ...),
                "tx::nn::attend: where queries stand among keys is not known, as the numbers of both are bounded apart. FIX: one dyn<Max, Tag> for both");
  f.first = f.bounds() ? of_k.dim[2] - of_q.dim[2] : 0;
  var const mixed = recorded_attention({token_major(q), token_major(k), token_major(v)}, bounds, scores);
  return tensor_of<Q::info>{mixed.g, transpose(reshape(mixed, extents(of_q.at(0), of_q.at(2), of_q.at(1), of_q.at(3))), attributes{{0, 2, 1, 3}}).id};
}

}  // namespace detail

template <typed_handle Q, typed_handle K, typed_handle V, class... How>
constexpr auto attend_scaled(Q const& q, K const& k, V const& v, How const&... how) {
  return detail::attended(1, q, k, v, how...);
}
template <typed_handle Q, typed_handle K, typed_handle V, class... How>
constexpr auto attend(Q const& q, K const& k, V const& v, How const&... how) {
  return detail::attended(attention_scale<Q::dims.last()>, q, k, v, how...);
}

}  // namespace tx::nn
