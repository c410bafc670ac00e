// A model small enough to train in a blink, for the program's tests.
#pragma once

#include "../../examples/twinbert/losses.hpp"

#include <tx/nn/twinbert.hpp>

namespace twinbert {

struct config : tx::nn::twinbert_config {
  static constexpr int layers = 1;
  static constexpr int hidden = 16;
  static constexpr int heads = 2;
  static constexpr int ffn = 16;
  static constexpr int vocabulary = 400;
  static constexpr int query_words = 8;
  static constexpr int document_words = 24;
  using input = tx::nn::wordpiece;
  using pooler = tx::nn::weighted_pooler;
  using crossing = tx::nn::cosine;
  using block = tx::nn::pre_norm;
};

struct training {
  using loss = in_batch_softmax<20>;
  static constexpr int batch = 8;
  static constexpr int bag_batch = 8;
  static constexpr int document_words = 16;

  static constexpr int bag_steps = 20;
  static constexpr int steps = 40;
  static constexpr int group = 2;
  static constexpr double rate = 1e-2;
  static constexpr double bag_word_rate = 2;
  static constexpr double dropout = 0.1;
  static constexpr double warmup = 0.1;
  static constexpr double cloze = 0.2;
};

}  // namespace twinbert
