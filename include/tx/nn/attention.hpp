// self_attention<H, Heads>(x, mask): multi-head self attention (Vaswani et al., arXiv 1706.03762), [batch, seq, H] -> [batch, seq, H].
// Or of packed texts, which lie one after the other without padding: [tokens, H] -> [tokens, H].
#pragma once

#include <tx/nn/attend_packed.hpp>
#include <tx/nn/linear.hpp>

namespace tx::nn {

template <int H, int Heads>
struct self_attention {
  static_assert(H % Heads == 0, "tx::nn::self_attention: the width is no multiple of the number of heads. FIX: change one of the two");
  static constexpr int head_width = H / Heads;

  linear<H, H> query;
  linear<H, H> key;
  linear<H, H> value;

  // The mask, [batch, seq], may be left out; see key_mask.hpp for its types. Dropout is on the probabilities.
  template <typed_handle X, typed_handle... Mask>
  constexpr auto operator()(X const& x, Mask const&... mask) const {
    static_assert(X::dims.rank == 3 && sizeof...(Mask) <= 1,
                  "tx::nn::self_attention: takes a tensor [batch, seq, width] and perhaps a mask [batch, seq]. FIX: reshape<batch, seq, width>(x)");
    return attend(query(x) * scale, key(x), value(x), mask...);
  }
  // Packed texts, texts_at<Longest>(offsets): see attend_packed.hpp.
  template <typed_handle X, int Longest, typed_handle Offsets>
  constexpr auto operator()(X const& x, packed_texts<Longest, Offsets> const& texts) const {
    static_assert(X::dims.rank == 2, "tx::nn::self_attention: packed texts are [tokens, width]. FIX: reshape<tokens, width>(x)");
    return attend_packed<Heads>(query(x), key(x), value(x), texts);
  }

 private:
  static constexpr double scale = attention_scale<head_width>;

  // [batch, seq, H] -> [batch, seq, H]
  template <typed_handle X, typed_handle... Mask>
  static constexpr auto attend(X const& queries, typed_handle auto const& keys, typed_handle auto const& values, Mask const&... mask) {
    auto const mixed = attend_scaled(split(queries), split(keys), split(values), mask...);  // [batch, heads, seq, head]
    return reshape<X::dims[0], X::dims[1], H>(transpose<0, 2, 1, 3>(mixed));
  }
  // [batch, seq, H] -> [batch, heads, seq, head]
  template <typed_handle X>
  static constexpr auto split(X const& x) {
    return transpose<0, 2, 1, 3>(reshape<X::dims[0], X::dims[1], Heads, head_width>(x));
  }
};

}  // namespace tx::nn
