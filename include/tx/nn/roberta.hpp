// roberta<Config>: RoBERTa (Liu et al., arXiv 1907.11692), BERT with another first position and one type of tokens: Config has first_position = 2 and types =
// 1. ids [batch, seq] -> [batch, seq, hidden]. roberta_family: its heads with the names of Hugging Face's RobertaFor.... Key masks must leave out the padding,
// and padding stands behind a text: then positions are those of Hugging Face for every token that is seen.
#pragma once

#include <tx/nn/bert.hpp>

namespace tx::nn {

template <class Config, class Pooler = no_pooler>
using roberta = bert<Config, Pooler>;

struct roberta_family {
  static constexpr fixed_string name = "roberta";
  template <class Config, class Pooler = no_pooler>
  using encoder = roberta<Config, Pooler>;
  template <class Config>
  using pooler = first_token<Config>;

  // [texts, hidden], of the first tokens -> logits [texts, Labels]
  template <class Config, int Labels>
  struct sequence_head {
    detail::dense_and_out<Config::hidden, Labels> classifier;
    constexpr auto operator()(typed_handle auto const& x) const { return classifier.out_proj(dropout(tanh(classifier.dense(dropout(x))))); }
  };
  template <class Config>
  using choice_pooler = bert_pooler<Config>;
  template <class Config>
  using choice_head = bert_family::choice_head<Config>;

  template <class Config>
  struct lm_head_layers {
    linear<Config::hidden, Config::hidden> dense;
    layer_norm_of<Config> layer_norm;
    param<tensor<f32, Config::vocabulary>, init::zeros, not_decayed> bias;
  };
  // rows [N, hidden], the table of words [vocabulary, hidden] -> logits [N, vocabulary]
  template <class Config>
  struct masked_head {
    lm_head_layers<Config> lm_head;
    constexpr auto operator()(typed_handle auto const& rows, handle auto const& words) const {
      return matmul(lm_head.layer_norm(gelu(lm_head.dense(rows))), transpose(words)) + lm_head.bias;
    }
  };
};

}  // namespace tx::nn
