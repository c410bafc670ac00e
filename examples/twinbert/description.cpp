// What a program is compiled for: its model.
#include "engine.hpp"

#include TWINBERT_MODEL_HEADER

namespace twinbert {
namespace {

using loss = training::loss;

template <class Crossing>
constexpr char const* crossing_name = std::is_same_v<Crossing, tx::nn::cosine> ? "cosine" : "residual";
template <class Pooler>
constexpr char const* pooler_name = std::is_same_v<Pooler, tx::nn::cls_pooler> ? "cls" : "weighted";

template <class Input>
constexpr int letters_of = 0;
template <int Letters>
constexpr int letters_of<tx::nn::tri_letter<Letters>> = Letters;

}  // namespace

description const& compiled() {
  static description const d{
      config::layers,
      config::hidden,
      config::heads,
      config::ffn,
      config::vocabulary,
      config::query_words,
      config::document_words,
      letters_of<config::input>,
      config::shared,
      letters_of<config::input> == 0 && std::is_same_v<config::pooler, tx::nn::cls_pooler>,
      loss::labelled,
      !loss::labelled,
      pooler_name<config::pooler>,
      crossing_name<config::crossing>,
      std::is_same_v<config::block, tx::nn::pre_norm> ? "pre-norm" : "post-norm",
      loss::name,
      training::batch,
      training::bag_batch,
      training::document_words,
      encode_batch,
      training::bag_steps,
      training::steps,
      training::group,
      training::rate,
      training::bag_word_rate,
      static_cast<double>(config::word_group::rate),
      static_cast<double>(config::word_group::decay),
      training::dropout,
      training::warmup,
      training::cloze,
  };
  return d;
}

}  // namespace twinbert
