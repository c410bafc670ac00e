// bert_masked_lm_head<Config>: from hidden states to words, the last layers of BERT's masked language model (Devlin et al., arXiv 1810.04805), named as
// in Hugging Face's BertForMaskedLM. [N, hidden], the table of words [vocabulary, hidden] -> logits [N, vocabulary]. The last product is with the table of words.
#pragma once

#include <tx/nn/layer_norm_of.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/gelu.hpp>

namespace tx::nn {

template <class Config>
struct bert_masked_lm_transform {
  linear<Config::hidden, Config::hidden> dense;
  layer_norm_of<Config> LayerNorm;

  constexpr auto operator()(typed_handle auto const& x) const { return LayerNorm(gelu(dense(x))); }
};

template <class Config>
struct bert_masked_lm_predictions {
  bert_masked_lm_transform<Config> transform;
  param<tensor<f32, Config::vocabulary>, init::zeros, not_decayed> bias;

  // rows [N, hidden], the table of words [vocabulary, hidden] -> logits [N, vocabulary]
  constexpr auto operator()(typed_handle auto const& rows, handle auto const& words) const {
    return matmul(transform(rows), transpose(words)) + bias;
  }
};

template <class Config>
struct bert_masked_lm_head {
  bert_masked_lm_predictions<Config> predictions;
};

}  // namespace tx::nn
