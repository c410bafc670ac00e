// A TwinBERT that trains in a blink, and batches for it.
#pragma once

#include <tx/nn/twinbert.hpp>

#include <vector>

namespace small_twinbert {

struct config : tx::nn::twinbert_config {
  static constexpr int layers = 2;
  static constexpr int hidden = 20;
  static constexpr int heads = 2;
  static constexpr int ffn = 28;
  static constexpr int vocabulary = 40;
  static constexpr int query_words = 3;
  static constexpr int document_words = 5;
  using input = tx::nn::wordpiece;
  using pooler = tx::nn::weighted_pooler;
  using crossing = tx::nn::residual;
};
using model = tx::nn::twinbert<config>;

struct batch {
  std::vector<int> queries, documents;
  std::vector<float> labels;
};
// Rows first .. first + count of the batch of a step.
inline batch batch_of(int number, int first, int count) {
  batch b;
  for (int r = first; r < first + count; ++r) {
    for (int w = 0; w < config::query_words; ++w)
      b.queries.push_back(w > r % 3 ? 0 : 1 + (number * 11 + r * 7 + w * 13) % 39);
    for (int w = 0; w < config::document_words; ++w)
      b.documents.push_back(w > r % 5 ? 0 : 1 + (number * 5 + r * 3 + w * 17) % 39);
    b.labels.push_back(r % 2 == 0 ? 1.0f : 0.0f);
  }
  return b;
}

}  // namespace small_twinbert
