// bert_masked_lm<Config>: BERT's masked language model (Devlin et al., arXiv 1810.04805), named as Hugging Face's BertForMaskedLM. The head, whose
// product with the vocabulary is the largest of all, is computed for the masked tokens alone.
#pragma once

#include <tx/nn/bert.hpp>
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

template <class Config>
struct bert_masked_lm {
  nn::bert<Config, no_pooler> bert;
  bert_masked_lm_head<Config> cls;

  // places [N]: the numbers of the masked tokens among the batch * seq there are; a negative one is an empty place, whose row is
  // zeros. Then ids [batch, seq] and, if wanted, key mask and token types of that shape -> logits [N, vocabulary]
  template <typed_handle Places, typed_handle Ids>
  constexpr auto operator()(Places const& places, Ids const& ids, typed_handle auto const&... others) const {
    static_assert(Places::dims.rank == 1 && Ids::dims.rank == 2, "tx::nn::bert_masked_lm: places are [N], ids are [batch, seq]. FIX: reshape them");
    auto const tokens = reshape<Ids::dims[0] * Ids::dims[1], Config::hidden>(bert(ids, others...));
    return cls.predictions(take(tokens, places), bert.embeddings.word_embeddings.weight);
  }
};

}  // namespace tx::nn
