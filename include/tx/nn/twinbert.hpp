// twinbert<Config>: a query and a document, each encoded on its own, and how well they match
// (Lu et al., arXiv 2002.06275). queries [batch, words], documents [batch, words] -> logits [batch].
//
//   struct small : tx::nn::twinbert_config { static constexpr int layers = 2; using crossing = tx::nn::residual; };
//   using model = tx::nn::twinbert<small>;
//   constexpr auto loss = [](auto const& model, tx::nn::query_ids<small, 64> q, tx::nn::document_ids<small, 64> d,
//                            tx::tensor<tx::f32, 64> label) { return tx::nn::logistic_loss(model(q, d), label); };
#pragma once

#include <tx/nn/bert_encoder.hpp>
#include <tx/nn/crossing.hpp>
#include <tx/nn/embedding.hpp>
#include <tx/nn/pooler.hpp>
#include <tx/nn/pre_norm_layer.hpp>
#include <tx/nn/text_input.hpp>
#include <tx/nn/twin.hpp>

namespace tx::nn {

struct post_norm {
  template <class Config>
  using layer = bert_layer<Config>;
};
struct pre_norm {
  template <class Config>
  using layer = pre_norm_layer<Config>;
};

// The published model; derive from it and name what differs.
struct twinbert_config {
  static constexpr int layers = 6;  // 0: vectors of words, pooled
  static constexpr int hidden = 512;
  static constexpr int heads = 8;
  static constexpr int ffn = 512;
  static constexpr int vocabulary = 49293;
  static constexpr int query_words = 12;
  static constexpr int document_words = 12;
  static constexpr bool shared = true;  // one tower for both
  using input = tri_letter<20>;         // or wordpiece
  using pooler = weighted_pooler;       // or cls_pooler
  using crossing = cosine;              // or residual
  using block = post_norm;              // or pre_norm
  using word_group = embedding_group;   // the parameter group of the table of words
};

template <class Config, auto Batch>
using query_ids = typename Config::input::template ids<Batch, Config::query_words>;
template <class Config, auto Batch>
using document_ids = typename Config::input::template ids<Batch, Config::document_words>;

// The vectors of words and of their places, added.
template <class Config>
struct twinbert_embeddings {
  static constexpr int positions =
      Config::query_words > Config::document_words ? Config::query_words : Config::document_words;

  embedding<Config::vocabulary, Config::hidden, typename Config::word_group> word_embeddings;
  embedding<positions, Config::hidden> position_embeddings;

  // ids [batch, words, ...] -> [batch, words, hidden]
  template <typed_handle Ids>
  constexpr auto operator()(Ids const& ids) const {
    auto const words = Config::input::vectors(word_embeddings, ids);
    return words + position_embeddings.template of_places<1>(ids);
  }
};

// A text's vector, which depends on nothing but its own words. ids [batch, words, ...] -> [batch, hidden]
template <class Config>
struct twinbert_tower {
  twinbert_embeddings<Config> embeddings;
  bert_encoder<Config, typename Config::block::template layer<Config>> encoder;
  typename Config::pooler::template type<Config::hidden> pooler;

  constexpr auto operator()(typed_handle auto const& ids) const {
    auto const mask = Config::input::mask(ids);
    return pooler(encoder(embeddings(ids), mask), mask);
  }
};

template <class Config>
struct twinbert {
  twin<twinbert_tower<Config>, Config::shared> towers;
  typename Config::crossing::template type<Config::hidden> crossing;

  // ids [batch, words, ...] -> [batch, hidden]
  constexpr auto query(typed_handle auto const& ids) const { return towers.query(ids); }
  constexpr auto document(typed_handle auto const& ids) const { return towers.document(ids); }
  // Logits [batch] of the probability that a query and its document match.
  constexpr auto operator()(typed_handle auto const& query_ids, typed_handle auto const& document_ids) const {
    auto const q = query(query_ids);  // before the document, whatever order a compiler evaluates arguments in
    return crossing(q, document(document_ids));
  }
};

}  // namespace tx::nn
