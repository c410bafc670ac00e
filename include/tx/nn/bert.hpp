// bert<Config>, bert_classifier<Config, Labels>: BERT (Devlin et al., arXiv 1810.04805) with the names of Hugging Face's BertModel and
// BertForSequenceClassification, so that its files load. A configuration is a struct, see bert_base.
#pragma once

#include <tx/nn/bert_encoder.hpp>
#include <tx/nn/embedding.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/take.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/where.hpp>

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

template <class Config>
struct bert_embeddings {
  embedding<Config::vocabulary, Config::hidden, embedding_group> word_embeddings;
  embedding<Config::positions, Config::hidden> position_embeddings;
  embedding<Config::types, Config::hidden> token_type_embeddings;
  layer_norm_of<Config> LayerNorm;

  // ids [batch, seq] -> [batch, seq, hidden]; all tokens are of type 0
  template <typed_handle Ids>
  constexpr auto operator()(Ids const& ids) const {
    auto const words = word_embeddings(ids);
    return finish(ids, words + token_type_embeddings.template first<1>());
  }
  // ids and token types [batch, seq] -> [batch, seq, hidden]
  template <typed_handle Ids>
  constexpr auto operator()(Ids const& ids, typed_handle auto const& types) const {
    auto const words = word_embeddings(ids);
    return finish(ids, words + token_type_embeddings(types));
  }
  // packed ids and their positions [tokens] -> [tokens, hidden]; all tokens are of type 0
  constexpr auto packed(typed_handle auto const& ids, typed_handle auto const& positions) const {
    auto const words = word_embeddings(ids);
    return dropout(LayerNorm(words + token_type_embeddings.template first<1>() + position_embeddings(positions)));
  }

 private:
  template <class Ids>
  constexpr auto finish(Ids const& ids, typed_handle auto const& sum) const {
    static_assert(Ids::dims.rank == 2, "tx::nn::bert_embeddings: ids are [batch, seq]. FIX: reshape<1, seq>(ids) for one text");
    return dropout(LayerNorm(sum + position_embeddings.template of_places<1>(ids)));
  }
};

// tanh(dense(first token)). [batch, seq, hidden] -> [batch, hidden]
template <class Config>
struct bert_pooler {
  static constexpr peel last_layer = peel::last;  // one row of it is read
  linear<Config::hidden, Config::hidden> dense;

  template <typed_handle X>
  constexpr auto operator()(X const& x) const {
    return tanh(dense(reshape<X::dims[0], Config::hidden>(slice<1, 0, 1>(x))));
  }
  // Packed texts: [tokens, hidden], offsets [texts + 1] -> [texts, hidden]; of a text without tokens, that of zeros
  template <typed_handle Offsets>
  constexpr auto packed(typed_handle auto const& x, Offsets const& offsets) const {
    constexpr int texts = Offsets::dims[0] - 1;
    auto const starts = slice<0, 0, texts>(offsets), ends = slice<0, 1, texts>(offsets);
    return tanh(dense(take(x, where(less(starts, ends), starts, -1))));
  }
};
// tanh(dense(mean of all tokens)), padding included. [batch, seq, hidden] -> [batch, hidden]
template <class Config>
struct bert_mean_pooler {
  linear<Config::hidden, Config::hidden> dense;

  template <typed_handle X>
  constexpr auto operator()(X const& x) const {
    return tanh(dense(reshape<X::dims[0], Config::hidden>(mean<1>(x))));
  }
};
struct no_pooler {};

namespace detail {
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
  constexpr auto operator()(typed_handle auto const& ids, typed_handle auto const& mask) const {
    return encoder(embeddings(ids), mask);
  }
  constexpr auto operator()(typed_handle auto const& ids, typed_handle auto const& mask,
                            typed_handle auto const& types) const {
    return encoder(embeddings(ids, types), mask);
  }
  // Packed texts (text/packed_batch.hpp) of at most Longest tokens each: ids, positions [tokens], which may be bounded, offsets [texts + 1]
  // -> [tokens, hidden]
  template <int Longest>
  constexpr auto packed(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets) const {
    return encoder(embeddings.packed(ids, positions), texts_at<Longest>(offsets));
  }
};

template <class Config, int Labels, class Pooler = bert_pooler<Config>>
struct bert_classifier {
  nn::bert<Config, Pooler> bert;
  linear<Config::hidden, Labels> classifier;

  // ids, key mask, token types, each [batch, seq], the last two optional -> logits [batch, Labels]
  constexpr auto operator()(typed_handle auto const&... inputs) const {
    return classifier(dropout(bert.pooler(bert(inputs...))));
  }
  // Packed texts: ids, positions [tokens], offsets [texts + 1] -> logits [texts, Labels]
  template <int Longest>
  constexpr auto packed(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets) const {
    return classifier(dropout(bert.pooler.packed(bert.template packed<Longest>(ids, positions, offsets), offsets)));
  }
};

}  // namespace tx::nn
