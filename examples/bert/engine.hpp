// The compiled models behind plain interfaces, so that only a file for each kind of head instantiates programs: once for each kind of device.
#pragma once

#include "../command_line/makers.hpp"
#include "../command_line/trained_run.hpp"

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
    int tensor = 1;  // processes that divide the products of a batch

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

using command_line::engine_options, command_line::held_tensors, command_line::named_tensor, command_line::trained_run;

// The ids of a text and the types of its tokens.
struct coded_text {
  std::span<std::int32_t const> ids, types;
};

struct step_settings {
  double rate = 1e-4, decay = 0.01, dropout = 0.1, layer_decay = 1;
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
// One that does not train has no place for gradients. Throws what maker::make throws (makers.hpp), as all others do: value_error where the program has no head.
inline std::unique_ptr<classifier> make_classifier(engine_options const& o, bool trains) {
  return command_line::maker<classifier, bool>::make("this program has no head. FIX: tx_add_bert(... HEADS sequence=2), or HEADS regression", o, trains);
}

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
  // Of a copy's tensors, or those held: what the student's folder holds, and the teacher's, by the names that they have there.
  virtual std::vector<named_tensor> student(std::span<named_tensor const> all) const = 0;
  virtual std::vector<named_tensor> teacher(std::span<named_tensor const> all) const = 0;
  virtual bool hidden_states() const = 0;  // whether the program learns from them
  virtual bool attention() const = 0;      // and from that
};
inline std::unique_ptr<distiller> make_distiller(engine_options const& o) {
  return command_line::maker<distiller>::make("this program has no teacher. FIX: tx_add_bert(... TEACHER config.json)", o);
}

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
inline std::unique_ptr<tagger> make_tagger(engine_options const& o, bool trains) {
  return command_line::maker<tagger, bool>::make("this program has no head for tokens. FIX: tx_add_bert(... HEADS token=9)", o, trains);
}

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
inline std::unique_ptr<answerer> make_answerer(engine_options const& o, bool trains) {
  return command_line::maker<answerer, bool>::make("this program finds no answers. FIX: tx_add_bert(... HEADS answer)", o, trains);
}

// Vectors of whole texts, trained so that the two texts of a pair lie close together and far from the other texts of a batch.
class contrastive : public trained_run {
 public:
  // One step on compiled().batch pairs: the second text of each is the one that the first is to find.
  virtual float train(std::span<coded_text const> first, std::span<coded_text const> second, step_settings const& settings, std::string const& trace = {}) = 0;
  // [texts, hidden]
  virtual std::vector<float> embed(std::span<coded_text const> texts) = 0;
  virtual bool first_token() const = 0;  // a text's vector is that of its first token, not the mean of all
};
inline std::unique_ptr<contrastive> make_contrastive(engine_options const& o) {
  return command_line::maker<contrastive>::make("this program trains no vectors. FIX: tx_add_bert(... HEADS contrast)", o);
}

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
inline std::unique_ptr<pretrainer> make_pretrainer(engine_options const& o) {
  return command_line::maker<pretrainer>::make("this program does not pre-train. FIX: tx_add_bert(... HEADS pretrain)", o);
}

// Vectors of whole texts.
class embedder : public command_line::named_parameters {
 public:
  enum class pooling { mean, first };
  // [texts, hidden]
  virtual std::vector<float> embed(std::span<coded_text const> texts, pooling how) = 0;
};
// halves: it multiplies in bf16. Throws value_error where the program makes none of those.
inline std::unique_ptr<embedder> make_embedder(engine_options const& o, bool halves) {
  return command_line::maker<embedder, bool>::make("this program makes no vectors. FIX: tx_add_bert(... HEADS embed)", o, halves);
}

}  // namespace bert
