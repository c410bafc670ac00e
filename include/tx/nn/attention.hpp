// Multi-head self attention (Vaswani et al., arXiv 1706.03762). [batch, seq, H] -> [batch, seq, H]
#pragma once

#include <tx/nn/key_mask.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/softmax.hpp>

namespace tx::nn {

template <int H, int Heads>
struct self_attention {
  static_assert(H % Heads == 0, "tx::nn::self_attention: the width is no multiple of the number of heads");
  static constexpr int head_width = H / Heads;

  linear<H, H> query;
  linear<H, H> key;
  linear<H, H> value;

  // The mask, [batch, seq], may be left out; see key_mask.hpp for its types. Dropout is on the probabilities.
  template <typed_handle X, typed_handle... Mask>
  constexpr auto operator()(X const& x, Mask const&... mask) const {
    static_assert(X::dims.rank == 3 && sizeof...(Mask) <= 1,
                  "tx::nn::self_attention: takes a tensor [batch, seq, width] and perhaps a mask [batch, seq]");
    constexpr double scale = 1.0 / math::sqrt(static_cast<double>(head_width));
    auto const q = split(query(x) * scale);                        // [batch, heads, seq, head]
    auto const k = split(key(x));                                  // [batch, heads, seq, head]
    auto const v = split(value(x));                                // [batch, heads, seq, head]
    auto const scores = masked(matmul(q, transpose(k)), mask...);  // [batch, heads, seq, seq]
    auto const mixed = matmul(dropout(softmax(scores)), v);        // [batch, heads, seq, head]
    return reshape<X::dims[0], X::dims[1], H>(transpose<0, 2, 1, 3>(mixed));
  }

 private:
  template <typed_handle X>
  static constexpr auto split(X const& x) {
    return transpose<0, 2, 1, 3>(reshape<X::dims[0], X::dims[1], Heads, head_width>(x));
  }
  template <typed_handle S>
  static constexpr auto masked(S const& scores) {
    return scores;
  }
  template <typed_handle S, typed_handle M>
  static constexpr auto masked(S const& scores, M const& mask) {
    return mask_keys(scores, mask);
  }
};

}  // namespace tx::nn
