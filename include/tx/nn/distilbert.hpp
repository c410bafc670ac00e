// distilbert<Config>: DistilBERT (Sanh et al., arXiv 1910.01108), BERT's layers under other names and without types of tokens, as Hugging Face's
// DistilBertModel: Config has types = 0. ids [batch, seq] -> [batch, seq, hidden]. distilbert_family: its heads with the names of DistilBertFor....
#pragma once

#include <tx/nn/bert.hpp>
#include <tx/ops/relu.hpp>

namespace tx::nn {

template <int H, int Heads>
struct distilbert_attention {
  linear<H, H> q_lin, k_lin, v_lin, out_lin;

  constexpr auto operator()(typed_handle auto const& x, auto const&... mask) const {
    auto const of = inputs(x);
    return out_lin(detail::attend_to_itself<Heads>(of.queries, of.keys, of.values, mask...));
  }
  template <typed_handle X>
  constexpr attention_inputs<Heads, X> inputs(X const& x) const {
    auto const v = v_lin(x);
    auto const k = k_lin(x);
    return {q_lin(x), k, v};
  }
};

template <int H, int F>
struct distilbert_ffn {
  linear<H, F> lin1;
  linear<F, H> lin2;

  constexpr auto operator()(typed_handle auto const& x) const { return dropout(lin2(gelu(lin1(x)))); }
};

template <class Config>
struct distilbert_layer {
  distilbert_attention<Config::hidden, Config::heads> attention;
  layer_norm_of<Config> sa_layer_norm;
  distilbert_ffn<Config::hidden, Config::ffn> ffn;
  layer_norm_of<Config> output_layer_norm;

  // As bert_layer's
  constexpr auto operator()(typed_handle auto const& x, auto const&... mask) const {
    auto const attended = sa_layer_norm(attention(x, mask...) + x);
    return output_layer_norm(ffn(attended) + attended);
  }
  constexpr auto attends_by(typed_handle auto const& x) const { return attention.inputs(x); }
};

template <class Config, class Pooler = no_pooler>
struct distilbert {
  static_assert(Config::types == 0, "tx::nn::distilbert: DistilBERT's tokens have no types. FIX: types = 0");
  bert_embeddings<Config> embeddings;
  bert_encoder<Config, distilbert_layer<Config>, Config::layers, detail::last_layer_for<Pooler>> transformer;
  Pooler pooler;

  // As bert's, without types: ids, key mask, each [batch, seq], the last optional -> [batch, seq, hidden]
  constexpr auto operator()(typed_handle auto const& ids, typed_handle auto const&... mask) const { return transformer(embeddings(ids), mask...); }
  template <int Longest>
  constexpr auto packed(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets) const {
    return transformer(embeddings.packed(ids, positions), texts_at<Longest>(offsets));
  }
  // The same, and the hidden states behind each layer: scanned{last [tokens, hidden], all [layers, tokens, hidden]}
  template <int Longest>
  constexpr auto packed_states(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets) const {
    return transformer.outputs(embeddings.packed(ids, positions), texts_at<Longest>(offsets));
  }
  // The same, and what the last layer's attention is computed from: encoded_with_attention
  template <int Longest>
  constexpr auto packed_attention(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets) const {
    return transformer.with_attention(embeddings.packed(ids, positions), texts_at<Longest>(offsets));
  }
};

struct distilbert_family {
  static constexpr fixed_string name = "distilbert";
  template <class Config, class Pooler = no_pooler>
  using encoder = distilbert<Config, Pooler>;
  template <class Config>
  using pooler = first_token<Config>;

  // [texts, hidden], of the first tokens -> logits [texts, Labels]
  template <class Config, int Labels>
  struct sequence_head {
    linear<Config::hidden, Config::hidden> pre_classifier;
    linear<Config::hidden, Labels> classifier;
    constexpr auto operator()(typed_handle auto const& x) const { return classifier(dropout(relu(pre_classifier(x)))); }
  };
  template <class Config>
  using choice_pooler = first_token<Config>;
  template <class Config>
  using choice_head = sequence_head<Config, 1>;

  // rows [N, hidden], the table of words [vocabulary, hidden] -> logits [N, vocabulary]
  template <class Config>
  struct masked_head {
    linear<Config::hidden, Config::hidden> vocab_transform;
    layer_norm_of<Config> vocab_layer_norm;
    detail::word_bias<Config::vocabulary> vocab_projector;
    constexpr auto operator()(typed_handle auto const& rows, handle auto const& words) const {
      return matmul(vocab_layer_norm(gelu(vocab_transform(rows))), transpose(words)) + vocab_projector.bias;
    }
  };
};

}  // namespace tx::nn
