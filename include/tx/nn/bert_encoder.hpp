// bert_encoder<Config, Layer>: Config::layers layers; none is allowed. [batch, seq, hidden] -> [batch, seq, hidden]
#pragma once

#include <tx/expr/repeat.hpp>
#include <tx/nn/bert_layer.hpp>

namespace tx::nn {

template <class Config, class Layer = bert_layer<Config>, int Layers = Config::layers>
struct bert_encoder {
  repeat<Layers, Layer> layer;

  constexpr auto operator()(typed_handle auto const& x, typed_handle auto const&... mask) const {
    return layer(x, key_mask(mask)...);
  }
};

template <class Config, class Layer>
struct bert_encoder<Config, Layer, 0> {
  constexpr auto operator()(typed_handle auto const& x, typed_handle auto const&...) const { return x; }
};

}  // namespace tx::nn
