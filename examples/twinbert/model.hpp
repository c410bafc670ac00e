// The model and the recipe that the program `twinbert` is compiled for. tx_add_twinbert(NAME HEADER) builds another
// program from another header like this one.
#pragma once

#include "losses.hpp"

#include <tx/nn/twinbert.hpp>

namespace twinbert {

struct config : tx::nn::twinbert_config {
  // Few rows of the table of words change in a step, so they bear a higher rate; the decay is what keeps 27,000 pairs
  // from being learned by heart.
  struct words {
    static constexpr float rate = 0.5f;
    static constexpr float decay = 0.1f;
  };

  static constexpr int layers = 2;
  static constexpr int hidden = 128;
  static constexpr int heads = 4;
  static constexpr int ffn = 256;
  static constexpr int vocabulary = 6144;
  static constexpr int query_words = 16;
  static constexpr int document_words = 64;
  using input = tx::nn::wordpiece;
  using pooler = tx::nn::weighted_pooler;
  using crossing = tx::nn::cosine;
  using block = tx::nn::pre_norm;  // fresh layers are the identity: they start from what the words alone have learned
  using word_group = words;
};

struct training {
  using loss = in_batch_softmax<20>;
  static constexpr int batch = 256;
  static constexpr int bag_batch = 512;      // before the encoder takes part
  static constexpr int document_words = 64;  // of a document that a step sees

  // Defaults of the options of `train`.
  static constexpr int bag_steps = 600;
  static constexpr int steps = 360;
  static constexpr int group = 8;  // similar pairs beside each other in a batch; see batches.hpp
  static constexpr double rate = 1e-3;
  static constexpr double bag_word_rate = 10;  // factor for the table of words, before the encoder takes part
  static constexpr double dropout = 0;
  static constexpr double warmup = 0.05;  // share of the steps
  static constexpr double cloze = 0.3;    // share of the pairs; see batches.hpp
};

}  // namespace twinbert
