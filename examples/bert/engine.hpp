// The compiled models behind plain interfaces, so that only a file for each kind of head instantiates programs.
#pragma once

#include <tx/io/model_folder.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bert {

// What the program was compiled for.
struct description {
  std::string program;  // what it is called
  std::string family;  // "bert", "roberta", "distilbert" or "electra": what files call the encoder
  std::string model_class;  // what Hugging Face's names of models with a head begin with: "Bert"
  int layers, hidden, heads, ffn, vocabulary, positions;
  int labels;       // 0: no head; 1: a number
  int tags;         // labels of tokens; 0: no head for them
  int predictions;  // masked tokens of a text that is learned from, at most; 0: it does not pre-train
  int batch, train_longest, longest;  // texts of a step; tokens of a text that is learned from, and of any other

  // What of it finetune, tag, answer and contrast train: patterns of names, none where that is all.
  struct training {
    int rank;      // of adapters beside its layers; 0: there are none
    double alpha;  // what they give is times alpha / rank
    double dropout;  // of what they read, while training
    std::vector<std::string> adapted;  // layers that have one
    std::vector<std::string> trained, frozen;
    bool layer_decay;  // rates may fall from layer to layer
    int accumulate = 1;  // steps of an update; pretrain and distil have this and the optimizer too
    double average = 0;  // decay of the moving average that is judged and saved; 0: there is none
    std::string optimizer{};  // that the program was told to train by; empty: the one that the recipe of each command has

    std::string text() const;  // "adapters of rank 8, alpha 16, beside *.layer.*.query, and the head; --layer-decay"
    std::string updates() const;  // "; an update every 4 steps; by lion", or nothing
  } tuning;

  bool regression() const { return labels == 1; }
};
description const& compiled();
// A text in which the program is called bert, as its help and messages are written, under the name it was compiled under.
std::string called(std::string text);

// Throws what check_config throws where a folder is of another model, and format_error where it is of a run that has not ended.
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
  double rate = 1e-4, decay = 0.01, dropout = 0.1, layer_decay = 1;
};

// What trains, as checkpoints take it for a run (tx/io/checkpoint.hpp).
class trained_run {
 public:
  virtual ~trained_run() = default;
  virtual std::vector<named_tensor> tensors(int k = 0) const = 0;  // k > 0: the optimizer's state k - 1
  virtual std::vector<named_tensor> kept() const { return tensors(); }  // what is judged and saved: where there is a moving average, that
  virtual std::vector<float> read() const = 0;                         // the same as numbers
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

// A student that learns labels from texts and from a teacher, which stays as it is. What is trained and asked as a classifier is the student.
class distiller : public classifier {
 public:
  struct shares {
    double temperature = 2;  // of the teacher's scores and the student's, where there are labels
    double hard = 0.5;       // share of the texts' own labels in the loss; the rest is the teacher's
    double hidden = 1;       // weight of the hidden states beside both, where the program learns from them
    double attention = 1;    // and of the last layer's attention
  };
  shares learns;

  virtual void load_teacher(tx::io::model_folder const& folder) = 0;  // throws what load_pretrained throws, and for a folder without its head
  virtual std::vector<float> teacher_logits(std::span<coded_text const> texts) = 0;
  virtual std::vector<named_tensor> student() const = 0;  // what its folder holds
  virtual std::vector<named_tensor> teacher() const = 0;
  virtual bool hidden_states() const = 0;  // whether the program learns from them
  virtual bool attention() const = 0;      // and from that
};
// Throws value_error where the program has no teacher.
std::unique_ptr<distiller> make_distiller(std::uint64_t seed, int threads);

// Labels of tokens.
inline constexpr std::int32_t no_label = -100;  // of a token that has none, as transformers' data have it
class tagger : public trained_run {
 public:
  // As classifier's; labels: of each token of the texts, one behind the other, the number of its label or no_label.
  virtual float train(std::span<coded_text const> texts, std::span<std::int32_t const> labels, step_settings const& settings, std::string const& trace = {}) = 0;
  // [tokens of all texts, labels]
  virtual std::vector<float> logits(std::span<coded_text const> texts) = 0;
};
// As make_classifier.
std::unique_ptr<tagger> make_tagger(std::uint64_t seed, int threads, bool trains);

// Where in texts answers stand.
class answerer : public trained_run {
 public:
  // As classifier's; first and last: of each text the tokens that its answer begins and ends with, 0 where it has none.
  virtual float train(std::span<coded_text const> texts, std::span<std::int32_t const> first, std::span<std::int32_t const> last, step_settings const& settings,
                      std::string const& trace = {}) = 0;
  // [tokens of all texts, 2]: of being the first, and the last
  virtual std::vector<float> logits(std::span<coded_text const> texts) = 0;
};
// As make_classifier.
std::unique_ptr<answerer> make_answerer(std::uint64_t seed, int threads, bool trains);

// Vectors of whole texts, trained so that the two texts of a pair lie close together and far from the other texts of a batch.
class contrastive : public trained_run {
 public:
  // One step on compiled().batch pairs: the second text of each is the one that the first is to find.
  virtual float train(std::span<coded_text const> first, std::span<coded_text const> second, step_settings const& settings, std::string const& trace = {}) = 0;
  // [texts, hidden]
  virtual std::vector<float> embed(std::span<coded_text const> texts) = 0;
  virtual bool first_token() const = 0;  // a text's vector is that of its first token, not the mean of all
};
// Throws value_error where the program does not train vectors.
std::unique_ptr<contrastive> make_contrastive(std::uint64_t seed, int threads);

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
// halves: it multiplies in bf16. Throws value_error where the program makes no vectors, or none of those.
std::unique_ptr<embedder> make_embedder(int threads, bool halves);

}  // namespace bert
