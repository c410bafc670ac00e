// The compiled model behind a plain interface, so that only engine.cpp instantiates programs: once for each kind of device.
#pragma once

#include "../command_line/makers.hpp"
#include "../command_line/trained_run.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace twinbert {

using command_line::engine_options, command_line::named_tensor;

enum class side { query, document };

inline constexpr int encode_batch = 32;  // texts that a program encodes at once

// What the program was compiled for.
struct description {
  int layers, hidden, heads, ffn, vocabulary, query_words, document_words;
  int letters;  // trigrams of a word; 0: WordPiece
  bool shared;
  bool special_tokens;  // [CLS] and [SEP] around a text
  bool labelled;        // the loss takes labels
  bool cosine_score;    // a score is the cosine of the two vectors
  std::string pooler, crossing, block, loss;
  int batch, bag_batch, train_document_words, encode_batch;
  // defaults of `train`
  std::int64_t bag_steps, steps;
  int group;
  double rate, bag_word_rate, word_rate, word_decay, dropout, warmup, cloze;

  int words(side s) const { return s == side::query ? query_words : document_words; }
  int slots() const { return letters > 0 ? letters : 1; }  // ids of a word
  std::int32_t empty() const { return letters > 0 ? -1 : 0; }
};

description const& compiled();

struct step_settings {
  double rate = 1e-3;
  double word_rate = 10;  // factor of the rate, for the table of words
  double decay = 0.01;
  double word_decay = 0;
  double dropout = 0;
  double clip = 1;
};

// Its tensors are those of the encoder too only if that takes part.
class engine : public command_line::trained_run {
 public:
  // One step; `layers` says whether the encoder takes part. Returns the loss. `trace`: a file for a Chrome trace of the
  // step's kernels; empty: none.
  virtual float train(std::span<std::int32_t const> queries, std::span<std::int32_t const> documents,
                      std::span<float const> labels, step_settings const& settings, bool layers, std::string const& trace = {}) = 0;
  // Forgets what the optimizer gathered.
  virtual void reset_optimizer() = 0;

  // Vectors [texts, hidden] of ids [texts, words, slots].
  virtual void encode(side s, std::span<std::int32_t const> ids, std::span<float> vectors) = 0;
  virtual void encode_bags(side s, std::span<std::int32_t const> ids, std::span<float> vectors) = 0;  // without the encoder
  // Scores [pairs] of vectors [pairs, hidden].
  virtual void score(std::span<float const> queries, std::span<float const> documents, std::span<float> scores) = 0;
};

// layers: false for the model without its encoder. Several processes train one model: what a step learns from are the batches of all.
inline std::unique_ptr<engine> make_engine(engine_options const& o, bool layers = true) {
  using makes = command_line::maker<engine, bool>;
  if (command_line::processes::now().several() && !makes::has({"cpu", true}))
    throw tx::value_error("this program trains in one process, and was started as one of several. FIX: start one, or tx_add_twinbert(... RANKS)");
  return makes::make("this program has no engine", o, layers);
}

}  // namespace twinbert
