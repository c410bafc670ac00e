// pre_norm_layer<Config>: norms inside the residual branches (Xiong et al., arXiv 2002.04745), whose last projections
// start at zero: a stack of fresh layers is the identity, and the first steps train what lies below it. [batch, seq, hidden] -> the same. Config: hidden,
// heads, ffn.
#pragma once

#include <tx/nn/bert_layer.hpp>

namespace tx::nn {

// A projection that starts at zero. [..., In] -> [..., H]
template <int In, int H>
struct zero_output {
  linear<In, H, init::zeros> dense;

  constexpr auto operator()(typed_handle auto const& x) const { return dropout(dense(x)); }
};

template <class Config>
struct pre_norm_attention {
  self_attention<Config::hidden, Config::heads> self;
  zero_output<Config::hidden, Config::hidden> output;

  constexpr auto operator()(typed_handle auto const& x, typed_handle auto const&... mask) const {
    return output(self(x, mask...));
  }
};

template <class Config>
struct pre_norm_layer {
  layer_norm_of<Config> layernorm_before;
  pre_norm_attention<Config> attention;
  layer_norm_of<Config> layernorm_after;
  bert_intermediate<Config::hidden, Config::ffn> intermediate;
  zero_output<Config::ffn, Config::hidden> output;

  // [batch, seq, hidden], mask [batch, seq] -> [batch, seq, hidden]
  constexpr auto operator()(typed_handle auto const& x, typed_handle auto const&... mask) const {
    auto const attended = x + attention(layernorm_before(x), mask...);
    return attended + output(intermediate(layernorm_after(attended)));
  }
};

}  // namespace tx::nn
