// The compiled models behind plain interfaces, so that only classifier.cpp and embedder.cpp instantiate programs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bert {

// What the program was compiled for.
struct description {
  std::string family;  // "bert", "roberta", "distilbert" or "electra": what files call the encoder
  std::string architecture;  // the head's name in Hugging Face's files, as "BertForSequenceClassification"
  int layers, hidden, heads, ffn, vocabulary, positions;
  int labels;       // 0: no head; 1: a number
  int predictions;  // masked tokens of a text that is learned from, at most; 0: it does not pre-train
  int batch, train_longest, longest;  // texts of a step; tokens of a text that is learned from, and of any other

  bool regression() const { return labels == 1; }
};
description const& compiled();

// Throws what check_config throws where a folder is of another model.
void check_folder(std::string const& folder);

// The ids of a text and the types of its tokens.
struct coded_text {
  std::span<std::int32_t const> ids, types;
};

struct named_tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<float> data;
};

struct step_settings {
  double rate = 1e-4, decay = 0.01, dropout = 0.1;
};

// What trains, as checkpoints take it for a run (tx/io/checkpoint.hpp).
class trained_run {
 public:
  virtual ~trained_run() = default;
  virtual std::vector<named_tensor> tensors(int k = 0) const = 0;  // k > 0: the optimizer's state k - 1
  virtual std::vector<float> read() const = 0;
  virtual void write(std::span<float const> values) = 0;
  virtual int states() const = 0;
  virtual std::int64_t steps_run() const = 0;
  virtual std::uint64_t seed() const = 0;
  virtual void restore(std::int64_t steps, std::uint64_t seed) = 0;
};

// Labels of whole texts.
class classifier : public trained_run {
 public:
  // One step on compiled().batch texts; targets are numbers of labels, or numbers. Returns the loss. `trace`: a file for a Chrome trace of its kernels;
  // empty: none.
  virtual float train(std::span<coded_text const> texts, std::span<float const> targets, step_settings const& settings, std::string const& trace = {}) = 0;
  // [texts, labels]: logits, or the number of each text.
  virtual std::vector<float> logits(std::span<coded_text const> texts) = 0;
};
// threads: 0, as many as the machine runs at once. One that does not train has no place for gradients. Throws value_error where the program has no head.
std::unique_ptr<classifier> make_classifier(std::uint64_t seed, int threads, bool trains);

// Masked words, and whether one text follows another.
class pretrainer : public trained_run {
 public:
  struct batch {
    std::vector<coded_text> texts;                        // compiled().batch of them
    std::vector<std::vector<std::int32_t>> places, words;  // of each text's masked tokens, within it; what they were
    std::vector<std::int32_t> others;                     // 1 where its second part is of another document
  };
  struct told {
    double loss = 0, words = 0, follows = 0;                  // the last two are its parts
    double words_right = 0, follows_right = 0;  // shares; of a step that trains not known
  };
  virtual told train(batch const& b, step_settings const& settings, std::string const& trace = {}) = 0;
  virtual told judge(batch const& b) = 0;
};
// Throws value_error where the program does not pre-train.
std::unique_ptr<pretrainer> make_pretrainer(std::uint64_t seed, int threads);

// Vectors of whole texts.
class embedder {
 public:
  virtual ~embedder() = default;
  enum class pooling { mean, first };
  // [texts, hidden]
  virtual std::vector<float> embed(std::span<coded_text const> texts, pooling how) = 0;
  virtual std::vector<named_tensor> tensors() const = 0;
};
// Throws value_error where the program makes no vectors.
std::unique_ptr<embedder> make_embedder(int threads);

}  // namespace bert
