// bert_layer<Config>: an encoder layer of BERT (Devlin et al., arXiv 1810.04805), norms after the residual additions. [batch, seq, hidden] -> the same.
// Members are named as Hugging Face names them. Config: hidden, heads, ffn, and perhaps layer_norm_epsilon, a std::ratio.
#pragma once

#include <tx/nn/attention.hpp>
#include <tx/nn/layer_norm_of.hpp>
#include <tx/ops/gelu.hpp>

namespace tx::nn {

// layer_norm(dropout(dense(x)) + residual). [..., In] -> [..., hidden]
template <int In, class Config>
struct bert_output {
  linear<In, Config::hidden> dense;
  layer_norm_of<Config> LayerNorm;

  constexpr auto operator()(typed_handle auto const& x, typed_handle auto const& residual) const {
    return LayerNorm(dropout(dense(x)) + residual);
  }
};

template <class Config>
struct bert_attention {
  self_attention<Config::hidden, Config::heads> self;
  bert_output<Config::hidden, Config> output;

  constexpr auto operator()(typed_handle auto const& x, auto const&... mask) const {
    return output(self(x, mask...), x);
  }
};

// gelu(dense(x)). [..., H] -> [..., F]
template <int H, int F>
struct bert_intermediate {
  linear<H, F> dense;

  constexpr auto operator()(typed_handle auto const& x) const { return gelu(dense(x)); }
};

template <class Config>
struct bert_layer {
  bert_attention<Config> attention;
  bert_intermediate<Config::hidden, Config::ffn> intermediate;
  bert_output<Config::ffn, Config> output;

  // [batch, seq, hidden], mask [batch, seq] -> [batch, seq, hidden]; or [tokens, hidden], texts_at<Longest>(offsets) -> [tokens, hidden]
  constexpr auto operator()(typed_handle auto const& x, auto const&... mask) const {
    auto const attended = attention(x, mask...);
    return output(intermediate(attended), attended);
  }
  // What its attention to x is computed from: attention_inputs
  constexpr auto attends_by(typed_handle auto const& x) const { return attention.self.inputs(x); }
};

}  // namespace tx::nn
