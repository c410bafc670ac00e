// bert_encoder<Config, Layer, Layers, Peel>: Config::layers layers; none is allowed. [batch, seq, hidden] -> the same. Peel the last one where not all rows are
// read.
#pragma once

#include <tx/expr/repeat.hpp>
#include <tx/nn/bert_layer.hpp>
#include <tx/ops/concat.hpp>

namespace tx::nn {

// What the last layer gave, what each gave [layers, tokens, hidden], and what the last one's attention is computed from.
template <class Last, class All, class Attention>
struct encoded_with_attention {
  Last carry;
  All out;
  Attention attention;
};
template <class Last, class All, class Attention>
encoded_with_attention(Last, All, Attention) -> encoded_with_attention<Last, All, Attention>;

template <class Config, class Layer = bert_layer<Config>, int Layers = Config::layers, peel Peel = peel::none>
struct bert_encoder {
  repeat<Layers, Layer, Peel> layer;

  constexpr auto operator()(typed_handle auto const& x, typed_handle auto const&... mask) const {
    return layer(x, key_mask(mask)...);
  }
  // Packed texts: [tokens, hidden] -> [tokens, hidden]
  template <int Longest, typed_handle Offsets>
  constexpr auto operator()(typed_handle auto const& x, packed_texts<Longest, Offsets> const& texts) const {
    return layer(x, texts);
  }
  // The same, and what each layer gave: scanned{last, all [layers, tokens, hidden]}. Nothing is peeled.
  template <int Longest, typed_handle Offsets>
  constexpr auto outputs(typed_handle auto const& x, packed_texts<Longest, Offsets> const& texts) const {
    return layer.outputs(x, texts);
  }
  // The same, and what the last layer's attention is computed from: encoded_with_attention. The last layer is peeled, whatever Peel says.
  template <typed_handle X, int Longest, typed_handle Offsets>
  constexpr auto with_attention(X const& x, packed_texts<Longest, Offsets> const& texts) const {
    auto const last = layer.last();
    auto const one = [](X const& y) { return reshape<1, X::dims[0], X::dims[1]>(y); };
    if constexpr (Layers == 1) {
      X const y = last(x, texts);
      return encoded_with_attention{y, one(y), last.attends_by(x)};
    } else {
      auto const before = layer.outputs_before_last(x, texts);
      X const y = last(before.carry, texts);
      return encoded_with_attention{y, concat<0>(before.out, one(y)), last.attends_by(before.carry)};
    }
  }
};

template <class Config, class Layer, peel Peel>
struct bert_encoder<Config, Layer, 0, Peel> {
  constexpr auto operator()(typed_handle auto const& x, typed_handle auto const&...) const { return x; }
};

}  // namespace tx::nn
