// bert_encoder<Config, Layer, Layers, Peel>: Config::layers layers; none is allowed. Peel the last one where not all rows are read. [batch, seq, hidden] -> [batch, seq, hidden]
#pragma once

#include <tx/expr/repeat.hpp>
#include <tx/nn/bert_layer.hpp>

namespace tx::nn {

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
};

template <class Config, class Layer, peel Peel>
struct bert_encoder<Config, Layer, 0, Peel> {
  constexpr auto operator()(typed_handle auto const& x, typed_handle auto const&...) const { return x; }
};

}  // namespace tx::nn
