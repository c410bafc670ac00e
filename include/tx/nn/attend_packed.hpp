// attend_packed<Heads>(q, k, v, texts_at<Longest>(offsets), how...): attention (attend.hpp) of texts of unequal length that lie one after the other,
// without padding. q [tokens, heads * head], k and v [tokens, key heads * head], offsets [texts + 1], i32, from the first token of the first text
// to behind the last of the last -> [tokens, heads * head], 0 of tokens that no text has. q has not been scaled. `how`: causal, local<W>, and a bias
// [texts, heads, Longest, Longest] or what broadcasts to that. The tokens' extent may be bounded.
//
// attend_packed<Heads>(q, k, v, texts_at<LongestQ>(query_offsets), texts_at<LongestK>(key_offsets), how...): keys of tokens of their own, as those of an
// encoder are to a decoder: queries of text t attend to the keys of text t. q [tokens, heads * head], k and v [key tokens, key heads * head], two
// lists of offsets of as many texts -> [tokens, heads * head], 0 of queries whose text has no key. `how`: a bias [texts, heads, LongestQ, LongestK] or
// what broadcasts to that, and drop(rate); causal and local<W> do not compile, as nothing tells where queries stand among such keys. Both extents
// of tokens may be bounded, apart from each other.
//
// A text has Longest tokens at most: the executor checks that before a run, and that no offset is less than the one before it or beyond the tokens
// there are; it throws value_error. Offsets that a program computes are not checked, and must be so.
#pragma once

#include <tx/nn/attend.hpp>
#include <tx/ops/in_range.hpp>

namespace tx::nn {

// Of packed texts: where they begin, and of how many tokens each may be.
template <int Longest, typed_handle Offsets>
struct packed_texts {
  static_assert(Longest > 0, "tx::nn::texts_at: a text has at least one token. FIX: texts_at<N>(offsets) with N of at least 1");
  static_assert(Offsets::info.type == dtype::i32 && Offsets::dims.rank == 1 && Offsets::dims.bounds == 0 && Offsets::dims[0] > 1,
                "tx::nn::texts_at: where texts begin, and the last one ends, is told by tensor<tx::i32, texts + 1>. FIX: packed_batch's offsets");
  static constexpr int texts = Offsets::dims[0] - 1, longest = Longest;
  Offsets offsets;
};
template <int Longest, typed_handle Offsets>
constexpr packed_texts<Longest, Offsets> texts_at(Offsets const& offsets) {
  return {offsets};
}

namespace detail {

struct text_begins {
  var offsets{};
  int longest = 0;
};

// keys: none where they lie with the queries.
template <int Heads, shape Scores, typed_handle Q, typed_handle K, typed_handle V, class... How>
constexpr auto packed_attention(Q const& q, K const& k, V const& v, text_begins const& queries, text_begins const& keys, How const&... how) {
  constexpr shape of_q = Q::dims, of_k = K::dims;
  static_assert(of_q.dim[1] % Heads == 0 && of_k.dim[1] % (of_q.dim[1] / Heads) == 0 && Heads % (of_k.dim[1] / (of_q.dim[1] / Heads)) == 0,
                "tx::nn::attend_packed: heads of one width, of which as many share each key head. FIX: a number of heads that divides the width");
  constexpr int head = of_q.dim[1] / Heads;
  attention_bounds bounds{};
  (add_bound<Scores>(bounds, how), ...);
  bounds.facts.heads = Heads;
  bounds.facts.key_heads = of_k.dim[1] / head;
  bounds.facts.longest = queries.longest;
  bounds.facts.key_longest = keys.longest;
  bounds.facts.scale = attention_scale<head>;
  vec<var> in{q, k, v, rising(queries.offsets, of_q, queries.longest)};
  if (keys.longest != 0) in.push_back(rising(keys.offsets, of_k, keys.longest));
  var const mixed = recorded_attention(in, bounds, Scores);
  return tensor_of<Q::info>{mixed.g, mixed.id};
}

}  // namespace detail

template <int Heads, typed_handle Q, typed_handle K, typed_handle V, int Longest, typed_handle Offsets, class... How>
constexpr auto attend_packed(Q const& q, K const& k, V const& v, packed_texts<Longest, Offsets> const& texts, How const&... how) {
  constexpr shape of_q = Q::dims, of_k = K::dims;
  static_assert(of_q.rank == 2 && of_k.rank == 2 && V::info == K::info && of_q.at(0) == of_k.at(0),
                "tx::nn::attend_packed: it takes q [tokens, heads * head], k and v [tokens, key heads * head]. FIX: reshape them");
  constexpr shape scores{4, {}, {packed_texts<Longest, Offsets>::texts, Heads, Longest, Longest}};
  return detail::packed_attention<Heads, scores>(q, k, v, {texts.offsets, Longest}, {}, how...);
}

template <int Heads, typed_handle Q, typed_handle K, typed_handle V, int LongestQ, typed_handle QueryOffsets, int LongestK, typed_handle KeyOffsets,
          class... How>
constexpr auto attend_packed(Q const& q, K const& k, V const& v, packed_texts<LongestQ, QueryOffsets> const& queries,
                             packed_texts<LongestK, KeyOffsets> const& keys, How const&... how) {
  static_assert(Q::dims.rank == 2 && K::dims.rank == 2 && V::info == K::info,
                "tx::nn::attend_packed: it takes q [tokens, heads * head], k and v [key tokens, key heads * head]. FIX: reshape them");
  static_assert(QueryOffsets::dims == KeyOffsets::dims,
                "tx::nn::attend_packed: queries of a text attend to keys of that text, so there are as many texts of both. FIX: an empty text, which begins where it ends, where one has no keys");
  static_assert(!(detail::bounds_keys<How> || ...),
                "tx::nn::attend_packed: where queries stand among keys is not known, as texts of both begin apart. FIX: no causal and no local<W>, or one texts_at<Longest>(offsets) for both");
  constexpr shape scores{4, {}, {packed_texts<LongestQ, QueryOffsets>::texts, Heads, LongestQ, LongestK}};
  return detail::packed_attention<Heads, scores>(q, k, v, {queries.offsets, LongestQ}, {keys.offsets, LongestK}, how...);
}

}  // namespace tx::nn
