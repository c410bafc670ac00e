// The model of tests/parity/data/folder, as tx_add_bert would write it for LORA 2 3 LAYER_DECAY OPTIMIZER lion ACCUMULATE 2 AVERAGE 0.75.
#pragma once

#include <tx/expr/by_name.hpp>
#include <tx/nn/bert.hpp>
#include <tx/train/lion.hpp>

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
inline constexpr int batch = 8;
inline constexpr int train_longest = 12, longest = 30;

struct tuning {
  static constexpr int rank = 2;
  static constexpr double alpha = 3;
  static constexpr double dropout = 0;
  using adapted = tx::names<"*.layer.*.query", "*.layer.*.value">;
  using trained = tx::names<>;
  using frozen = tx::names<>;
  static constexpr bool bf16 = false, bf16_on_devices = false;
  using optimizer = tx::lion;
  static constexpr char const* optimizer_name = "lion";
  static constexpr int accumulate = 2;
  static constexpr int ranks = 0, zero = 0;
  static constexpr double average = 0.75;
  static constexpr bool layer_decay = true;
  static constexpr tx::fixed_string below = "bert.embeddings*";
};

}  // namespace bert::model
