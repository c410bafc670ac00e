// A TwinBERT small enough for every test, its training step, and a batch.
#pragma once

#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>
#include <tx/train/step.hpp>

#include <vector>

struct tiny_twinbert : tx::nn::twinbert_config {
  static constexpr int layers = 2;
  static constexpr int hidden = 32;
  static constexpr int heads = 4;
  static constexpr int ffn = 64;
  static constexpr int vocabulary = 200;
  static constexpr int query_words = 6;
  static constexpr int document_words = 12;
  using input = tx::nn::wordpiece;
  using crossing = tx::nn::residual;
};

constexpr auto twinbert_loss = [](auto const& m, tx::nn::query_ids<tiny_twinbert, 8> q, tx::nn::document_ids<tiny_twinbert, 8> d,
                                  tx::tensor<float, 8> label) { return tx::nn::logistic_loss(m(q, d), label); };

template <class... Options>
using twinbert_step = tx::train_step<tx::nn::twinbert<tiny_twinbert>, twinbert_loss, tx::adamw, tx::clip_gradient, Options...>;

struct batch {
  std::vector<int> query, document;
  std::vector<float> label;
};

// Words from 1 on; 0 fills up.
inline batch twinbert_batch() {
  batch b;
  for (int i = 0; i < 8 * 6; ++i) b.query.push_back(i % 6 < 2 + i / 6 % 5 ? 1 + i * 7919 % 199 : 0);
  for (int i = 0; i < 8 * 12; ++i) b.document.push_back(i % 12 < 4 + i / 12 ? 1 + i * 104729 % 199 : 0);
  for (int i = 0; i < 8; ++i) b.label.push_back(i % 2 == 0 ? 1.0f : 0.0f);
  return b;
}
