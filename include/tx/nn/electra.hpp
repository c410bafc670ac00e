// electra<Config>: the encoder of ELECTRA (Clark et al., arXiv 2003.10555), BERT's layers on vectors of words of a width of their own, Config::embedding, named
// as Hugging Face's ElectraModel. ids [batch, seq] -> [batch, seq, hidden]. electra_family: its heads with the names of ElectraFor....
#pragma once

#include <tx/nn/bert.hpp>

namespace tx::nn {

namespace detail {
struct no_projection {
  constexpr auto operator()(typed_handle auto const& x) const { return x; }
};
}  // namespace detail

template <class Config, class Pooler = no_pooler>
struct electra {
  static constexpr int width = detail::embedding_width_of<Config>;

  bert_embeddings<Config> embeddings;
  std::conditional_t<width == Config::hidden, detail::no_projection, linear<width, Config::hidden>> embeddings_project;
  bert_encoder<Config, bert_layer<Config>, Config::layers, detail::last_layer_for<Pooler>> encoder;
  Pooler pooler;

  // As bert's: ids, key mask, token types, each [batch, seq], the last two optional -> [batch, seq, hidden]
  constexpr auto operator()(typed_handle auto const& ids) const { return encoder(embeddings_project(embeddings(ids))); }
  constexpr auto operator()(typed_handle auto const& ids, typed_handle auto const& mask, typed_handle auto const&... types) const {
    return encoder(embeddings_project(embeddings(ids, types...)), mask);
  }
  template <int Longest>
  constexpr auto packed(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets, typed_handle auto const&... types) const {
    return encoder(embeddings_project(embeddings.packed(ids, positions, types...)), texts_at<Longest>(offsets));
  }
  // The same, and the hidden states behind each layer: scanned{last [tokens, hidden], all [layers, tokens, hidden]}
  template <int Longest>
  constexpr auto packed_states(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets, typed_handle auto const&... types) const {
    return encoder.outputs(embeddings_project(embeddings.packed(ids, positions, types...)), texts_at<Longest>(offsets));
  }
  // The same, and what the last layer's attention is computed from: encoded_with_attention
  template <int Longest>
  constexpr auto packed_attention(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets, typed_handle auto const&... types) const {
    return encoder.with_attention(embeddings_project(embeddings.packed(ids, positions, types...)), texts_at<Longest>(offsets));
  }
};

struct electra_family {
  static constexpr fixed_string name = "electra";
  template <class Config, class Pooler = no_pooler>
  using encoder = electra<Config, Pooler>;
  template <class Config>
  using pooler = first_token<Config>;

  // [texts, hidden], of the first tokens -> logits [texts, Labels]
  template <class Config, int Labels>
  struct sequence_head {
    detail::dense_and_out<Config::hidden, Labels> classifier;
    constexpr auto operator()(typed_handle auto const& x) const { return classifier.out_proj(dropout(gelu(classifier.dense(dropout(x))))); }
  };

  template <class Config>
  using choice_pooler = first_token<Config>;
  template <class Config>
  struct summary_layer {
    linear<Config::hidden, Config::hidden> summary;
  };
  template <class Config>
  struct choice_head {
    summary_layer<Config> sequence_summary;
    linear<Config::hidden, 1> classifier;
    constexpr auto operator()(typed_handle auto const& x) const { return classifier(dropout(gelu(sequence_summary.summary(x)))); }
  };

  template <class Config>
  struct prediction_layers {
    layer_norm<electra<Config>::width, typename detail::epsilon_of<Config>::type> LayerNorm;
    linear<Config::hidden, electra<Config>::width> dense;
  };
  // rows [N, hidden], the table of words [vocabulary, width] -> logits [N, vocabulary]
  template <class Config>
  struct masked_head {
    prediction_layers<Config> generator_predictions;
    detail::word_bias<Config::vocabulary> generator_lm_head;
    constexpr auto operator()(typed_handle auto const& rows, handle auto const& words) const {
      return matmul(generator_predictions.LayerNorm(gelu(generator_predictions.dense(rows))), transpose(words)) + generator_lm_head.bias;
    }
  };
};

}  // namespace tx::nn
