// A DistilBERT with the sizes of tests/parity/data/folder, as tx_add_bert would write it for HEADS regression token=2 answer contrast=cls embed BF16.
#pragma once

#include "../bert/plain_tuning.hpp"

#include <tx/nn/distilbert.hpp>

#include <ratio>

namespace bert::model {

inline constexpr char const* program = "bert";
struct config {
  static constexpr int layers = 2, hidden = 16, heads = 2, ffn = 24, vocabulary = 142, positions = 40, types = 0;
  static constexpr int first_position = 0;
  using layer_norm_epsilon = std::ratio<1, 1'000'000'000'000>;
};
using family = tx::nn::distilbert_family;
inline constexpr char const* model_type = "distilbert";
inline constexpr char const* model_class = "DistilBert";
inline constexpr int labels = 1;
inline constexpr int tags = 2;
inline constexpr int predictions = 0;
inline constexpr bool contrast_first = true;
inline constexpr int batch = 8;
inline constexpr int train_longest = 12, longest = 30;

struct tuning : plain_tuning {
  static constexpr bool bf16 = true, bf16_on_devices = true;
  static constexpr tx::fixed_string below = "distilbert.embeddings*";
};

}  // namespace bert::model
