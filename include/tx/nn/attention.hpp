// self_attention<H, Heads>(x, mask): multi-head self attention (Vaswani et al., arXiv 1706.03762), [batch, seq, H] -> [batch, seq, H].
// Or of packed texts, which lie one after the other without padding: [tokens, H] -> [tokens, H].
#pragma once

#include <tx/nn/attend_packed.hpp>
#include <tx/nn/linear.hpp>

namespace tx::nn {

namespace detail {

// [batch, seq, H] -> [batch, heads, seq, head]
template <int Heads, typed_handle X>
constexpr auto split_heads(X const& x) {
  return transpose<0, 2, 1, 3>(reshape<X::dims[0], X::dims[1], Heads, X::dims[2] / Heads>(x));
}

// Queries, keys and values of the same texts: [batch, seq, H] and perhaps a mask [batch, seq] -> [batch, seq, H]
template <int Heads, typed_handle X, typed_handle... Mask>
constexpr auto attend_to_itself(X const& queries, typed_handle auto const& keys, typed_handle auto const& values, Mask const&... mask) {
  static_assert(X::dims.rank == 3 && sizeof...(Mask) <= 1,
                "tx::nn: attention takes a tensor [batch, seq, width] and perhaps a mask [batch, seq]. FIX: reshape<batch, seq, width>(x)");
  static_assert(X::dims[2] % Heads == 0, "tx::nn: the width is no multiple of the number of heads. FIX: change one of the two");
  auto const mixed = attend(split_heads<Heads>(queries), split_heads<Heads>(keys), split_heads<Heads>(values), mask...);  // [batch, heads, seq, head]
  return reshape<X::dims[0], X::dims[1], X::dims[2]>(transpose<0, 2, 1, 3>(mixed));
}
// Packed texts: [tokens, H] -> [tokens, H]
template <int Heads, typed_handle X, int Longest, typed_handle Offsets>
constexpr auto attend_to_itself(X const& queries, typed_handle auto const& keys, typed_handle auto const& values, packed_texts<Longest, Offsets> const& texts) {
  static_assert(X::dims.rank == 2, "tx::nn: attention of packed texts takes a tensor [tokens, width]. FIX: reshape<tokens, width>(x)");
  return attend_packed<Heads>(queries, keys, values, texts);
}

}  // namespace detail

// What a layer's attention is computed from, [..., H] each.
template <int Heads, typed_handle X>
struct attention_inputs {
  static constexpr int heads = Heads;
  X queries, keys, values;
};

template <int H, int Heads>
struct self_attention {
  static_assert(H % Heads == 0, "tx::nn::self_attention: the width is no multiple of the number of heads. FIX: change one of the two");

  linear<H, H> query;
  linear<H, H> key;
  linear<H, H> value;

  // [batch, seq, H], and perhaps a mask [batch, seq] (key_mask.hpp tells its types) -> [batch, seq, H]; or packed texts, [tokens, H] and
  // texts_at<Longest>(offsets) (attend_packed.hpp) -> [tokens, H]. Dropout is on the probabilities.
  constexpr auto operator()(typed_handle auto const& x, auto const&... mask) const {
    auto const of = inputs(x);
    return detail::attend_to_itself<Heads>(of.queries, of.keys, of.values, mask...);
  }
  template <typed_handle X>
  constexpr attention_inputs<Heads, X> inputs(X const& x) const {
    auto const v = value(x);  // in this order, whatever order a compiler evaluates arguments in
    auto const k = key(x);
    return {query(x), k, v};
  }
};

}  // namespace tx::nn
