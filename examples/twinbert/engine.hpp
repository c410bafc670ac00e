// The compiled model behind a plain interface, so that only engine.cpp instantiates programs: once for each kind of device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace command_line {
class processes;
}

namespace twinbert {

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

struct named_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<float> data;
};

struct engine_options {
  std::uint64_t seed = 1;
  int threads = 0;     // 0: as many as the machine runs at once
  bool layers = true;  // false: the model without its encoder
  std::string device = "cpu";
};

struct step_settings {
  double rate = 1e-3;
  double word_rate = 10;  // factor of the rate, for the table of words
  double decay = 0.01;
  double word_decay = 0;
  double dropout = 0;
  double clip = 1;
};

class engine {
 public:
  static constexpr bool remote = true;  // parameters may lie in a device's memory: read and write copy them
  virtual ~engine() = default;

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

  // All parameters; k > 0: the optimizer's state k - 1.
  virtual std::vector<float> read(int k = 0) const = 0;
  virtual void write(std::span<float const> values, int k = 0) = 0;
  // The tensors of such a copy by name; those of the encoder only if it takes part.
  virtual std::vector<named_tensor> tensors_of(std::span<float> copy, int k = 0) const = 0;
  // What else a saved run goes on from, see tx/io/checkpoint.hpp.
  virtual int states() const = 0;
  virtual std::int64_t steps_run() const = 0;
  virtual std::uint64_t seed() const = 0;
  virtual void restore(std::int64_t steps, std::uint64_t seed) = 0;
};

// value_error for a device that the program is not compiled for, error for one that this machine lacks.
std::unique_ptr<engine> make_engine(engine_options const& options);
// Where several processes train one model: what a step learns from are the batches of all. value_error for a program that was not compiled for that.
std::unique_ptr<engine> make_engine_of_ranks(engine_options const& options, command_line::processes& ranks);

}  // namespace twinbert
