// bert<Config>: BERT (Devlin et al., arXiv 1810.04805) with the names of Hugging Face's BertModel, so that its files load. ids [batch, seq] -> [batch, seq,
// hidden]. A configuration is a struct, see bert_base. With first_position = 2 and types = 1 it is RoBERTa (Liu et al., arXiv 1907.11692), see roberta.hpp.
#pragma once

#include <tx/core/fixed_string.hpp>
#include <tx/nn/bert_embeddings.hpp>
#include <tx/nn/bert_encoder.hpp>
#include <tx/nn/bert_masked_lm_head.hpp>
#include <tx/nn/text_pooler.hpp>
#include <tx/ops/tanh.hpp>

namespace tx::nn {

struct bert_base {
  static constexpr int layers = 12;
  static constexpr int hidden = 768;
  static constexpr int heads = 12;
  static constexpr int ffn = 3072;
  static constexpr int vocabulary = 30522;
  static constexpr int positions = 512;
  static constexpr int types = 2;
};

// tanh(dense(first token)): the poolers of text_pooler.hpp, and one more layer. -> [texts, hidden]
template <class Config>
struct bert_pooler {
  static constexpr peel last_layer = peel::last;  // one row of it is read
  linear<Config::hidden, Config::hidden> dense;

  constexpr auto operator()(typed_handle auto const& x, typed_handle auto const&...) const { return tanh(dense(first_token<Config>{}(x))); }
  constexpr auto packed(typed_handle auto const& x, typed_handle auto const& offsets) const {
    return tanh(dense(first_token<Config>{}.packed(x, offsets)));
  }
};
// tanh(dense(mean of all tokens)), padding included. [batch, seq, hidden] -> [batch, hidden]
template <class Config>
struct bert_mean_pooler {
  linear<Config::hidden, Config::hidden> dense;

  constexpr auto operator()(typed_handle auto const& x, typed_handle auto const&...) const { return tanh(dense(mean_token<Config>{}(x))); }
};

namespace detail {
// The two layers of a head for whole texts, as RoBERTa and ELECTRA call them.
template <int H, int Labels>
struct dense_and_out {
  linear<H, H> dense;
  linear<H, Labels> out_proj;
};

// What ELECTRA and DistilBERT keep of the last layer of a masked language model, whose weight is the table of words.
template <int Vocabulary>
struct word_bias {
  param<tensor<f32, Vocabulary>, init::zeros, not_decayed> bias;
};

template <class Pooler>
inline constexpr peel last_layer_for = peel::none;
template <class Pooler>
  requires requires { Pooler::last_layer; }
inline constexpr peel last_layer_for<Pooler> = Pooler::last_layer;
}  // namespace detail

template <class Config, class Pooler = bert_pooler<Config>>
struct bert {
  bert_embeddings<Config> embeddings;
  bert_encoder<Config, bert_layer<Config>, Config::layers, detail::last_layer_for<Pooler>> encoder;
  Pooler pooler;

  // ids [batch, seq], key mask [batch, seq], token types [batch, seq] -> [batch, seq, hidden]; `pooler` takes that on
  constexpr auto operator()(typed_handle auto const& ids) const { return encoder(embeddings(ids)); }
  constexpr auto operator()(typed_handle auto const& ids, typed_handle auto const& mask, typed_handle auto const&... types) const {
    return encoder(embeddings(ids, types...), mask);
  }
  // Packed texts (text/packed_batch.hpp) of at most Longest tokens each: ids, positions [tokens], which may be bounded, offsets [texts + 1], and
  // perhaps types [tokens] -> [tokens, hidden]
  template <int Longest>
  constexpr auto packed(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets, typed_handle auto const&... types) const {
    return encoder(embeddings.packed(ids, positions, types...), texts_at<Longest>(offsets));
  }
  // The same, and the hidden states behind each layer: scanned{last [tokens, hidden], all [layers, tokens, hidden]}
  template <int Longest>
  constexpr auto packed_states(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets, typed_handle auto const&... types) const {
    return encoder.outputs(embeddings.packed(ids, positions, types...), texts_at<Longest>(offsets));
  }
  // The same, and what the last layer's attention is computed from: encoded_with_attention
  template <int Longest>
  constexpr auto packed_attention(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets, typed_handle auto const&... types) const {
    return encoder.with_attention(embeddings.packed(ids, positions, types...), texts_at<Longest>(offsets));
  }
};

// How Hugging Face builds models for tasks on BERT: what the heads of sequence_classifier.hpp and its neighbours take for a Family.
struct bert_family {
  static constexpr fixed_string name = "bert";
  template <class Config, class Pooler = no_pooler>
  using encoder = bert<Config, Pooler>;
  template <class Config>
  using pooler = bert_pooler<Config>;

  // [texts, hidden], pooled -> logits [texts, Labels]
  template <class Config, int Labels>
  struct sequence_head {
    linear<Config::hidden, Labels> classifier;
    constexpr auto operator()(typed_handle auto const& x) const { return classifier(dropout(x)); }
  };
  template <class Config>
  using choice_pooler = bert_pooler<Config>;
  template <class Config>
  using choice_head = sequence_head<Config, 1>;

  // rows [N, hidden], the table of words [vocabulary, hidden] -> logits [N, vocabulary]
  template <class Config>
  struct masked_head {
    bert_masked_lm_head<Config> cls;
    constexpr auto operator()(typed_handle auto const& rows, handle auto const& words) const { return cls.predictions(rows, words); }
  };
};

}  // namespace tx::nn
