// The model of tests/parity/data/folder, as tx_add_bert would write it for RANKS 4 ZERO 3 TENSOR 2.
#pragma once

#include "../bert/plain_tuning.hpp"

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
inline constexpr int tags = 0;
inline constexpr int predictions = 0;
inline constexpr bool contrast_first = false;
inline constexpr int batch = 8;
inline constexpr int train_longest = 12, longest = 30;

struct tuning : plain_tuning {
  static constexpr int ranks = 4, zero = 3, tensor = 2;
};

}  // namespace bert::model
