// mask_keys(scores, mask): scores [batch, heads, queries, keys], mask [batch, keys] -> the scores, those of keys that the mask leaves out so low that softmax
// makes 0 of them. Masks are bool (true: the key takes part), integers (positive: it takes part, as Hugging Face's attention_mask), or floating point (added to
// the scores: 0 takes part, -infinity does not).
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/attention_facts.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/where.hpp>

namespace tx::nn {

using tx::masked_score;

// Integers become bool; convert once, before a repeated block.
template <typed_handle M>
constexpr auto key_mask(M const& mask) {
  if constexpr (is_integer(M::info.type))
    return less(0, mask);
  else
    return mask;
}

// Scores [batch, heads, queries, keys] of keys that take no part become masked_score.
template <typed_handle S, typed_handle M>
constexpr auto mask_keys(S const& scores, M const& mask) {
  constexpr shape s = S::dims;
  static_assert(M::dims.rank == 2 && M::dims[0] == s[0] && M::dims[1] == s[3],
                "tx::nn: a key mask has the shape [batch, sequence] of the tensor it belongs to. FIX: reshape or broadcast it");
  auto const keys = reshape<s[0], 1, 1, s[3]>(key_mask(mask));
  if constexpr (is_float(M::info.type))
    return scores + maximum(keys, masked_score);
  else
    return where(keys, scores, masked_score);
}

}  // namespace tx::nn
