// Training batches: shuffled by the seed alone, ids filled in, negatives drawn where the loss wants labels.
#pragma once

#include "engine.hpp"
#include "tokenizer.hpp"

#include <tx/text/pairs.hpp>
#include <tx/train/loop/epochs.hpp>

#include <span>
#include <vector>

namespace twinbert {

// What keeps a model from learning a small set of pairs by heart.
struct augmentation {
  double cloze = 0;         // the share of pairs whose query becomes a passage cut out of the document
  double word_dropout = 0;  // the share of words that a step does not see
};

// How many of them are trained on: where the loss knows no labels, those that match.
std::size_t trained_pairs(std::span<tx::text::pair const> pairs);

// Which of several processes this is: all draw the same batches in the same order, one behind the other's, and each has its own.
struct share_of_batch {
  int number = 0, of = 1;
};

class batches {
 public:
  // Throws value_error if no pair is left to train on.
  batches(tokenizer const& t, std::span<tx::text::pair const> pairs, std::uint64_t seed, augmentation a, share_of_batch share = {});

  // Pairs in each of the next batches.
  void resize(int size);
  // From the next epoch on, batches are made of groups of `size` pairs with similar documents, so that a pair is told
  // from its like. vectors: [pairs, hidden], of all_documents().
  void group(std::vector<float> vectors, int size);
  // The documents of the pairs, as ids [pairs, document_words, slots].
  std::vector<std::int32_t> all_documents() const;

  // Where in the data the next batch begins: batches that are brought there go on as those it was taken from.
  void save(tx::train::to_save& out) const;
  // Throws format_error for the place of other pairs. `size` as for group().
  void restore(tx::train::saved const& in, int size);

  void next();

  std::span<std::int32_t const> queries() const { return own(queries_); }
  std::span<std::int32_t const> documents() const { return own(documents_); }
  std::span<float const> labels() const { return own(labels_); }
  std::int64_t tokens() const { return tokens_; }  // in the batches of all processes, without padding
  std::size_t pairs() const { return pairs_.size(); }

 private:
  struct encoded {
    words query, document;
    float label;
  };
  template <class T>
  std::span<T const> own(std::vector<T> const& all) const {
    auto const each = all.size() / static_cast<std::size_t>(share_.of);
    return std::span(all).subspan(each * static_cast<std::size_t>(share_.number), each);
  }
  std::size_t draw();
  words const& document_of_another(encoded const& p);
  void group_by_likeness(std::span<std::int64_t> order);
  void sort_by_likeness(std::span<std::int64_t> order);
  bool chance(double share) { return share > 0 && static_cast<double>(random_() >> 32) * 0x1p-32 < share; }
  void put(std::size_t row, words const& query, words const& document, float label);
  void put_passage(std::size_t row, words const& document, float label);
  void put_rows(std::size_t row, words const& query, words const& document, float label);
  std::size_t fill(words const& text, std::span<std::int32_t> ids);

  tokenizer const& tokenizer_;
  tx::train::random_numbers random_;
  augmentation augmentation_;
  share_of_batch share_;
  std::vector<encoded> pairs_;
  bool negatives_ = false;  // the loss wants labels and the pairs have none
  tx::train::epochs order_{0};
  std::vector<float> vectors_;
  std::size_t group_ = 1;
  std::vector<std::int32_t> queries_, documents_;  // the batches of all processes
  words query_, document_, thinned_;               // a row in the making
  std::vector<float> labels_;
  std::int64_t tokens_ = 0;
};

}  // namespace twinbert
