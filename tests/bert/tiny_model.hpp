// The model of tests/parity/data/folder, as tx_add_bert would write it.
#pragma once

#include "plain_tuning.hpp"

#include <tx/nn/bert.hpp>

namespace bert::model {

inline constexpr char const* program = "bert";
struct config {
  static constexpr int layers = 2, hidden = 16, heads = 2, ffn = 24, vocabulary = 142, positions = 40, types = 2;
};
using family = tx::nn::bert_family;
inline constexpr char const* model_type = "bert";
inline constexpr char const* model_class = "Bert";
inline constexpr int labels = 2;
inline constexpr int tags = 3;
inline constexpr int predictions = 4;
inline constexpr bool contrast_first = false;
inline constexpr int batch = 8;
inline constexpr int train_longest = 12, longest = 30;

// FROZEN bert.embeddings.position_embeddings.* LAYER_DECAY
struct tuning : plain_tuning {
  using frozen = tx::names<"bert.embeddings.position_embeddings.*">;
  static constexpr bool layer_decay = true;
};

// A teacher of the same kind, which the tests can train.
namespace teacher {
using model::config;
using model::family;
using model::model_type;
inline constexpr bool hidden_states = true, attention = true;
}  // namespace teacher

}  // namespace bert::model
