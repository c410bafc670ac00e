// Training batches: shuffled by the seed alone, ids filled in, negatives drawn where the loss wants labels.
#pragma once

#include "engine.hpp"
#include "tokenizer.hpp"

#include <tx/text/pairs.hpp>

#include <span>
#include <vector>

namespace twinbert {

// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers everywhere, unlike the standard's distributions.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((*this)() % n); }
  // All there is to know of the numbers to come.
  std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_;
};

// What keeps a model from learning a small set of pairs by heart.
struct augmentation {
  double cloze = 0;         // the share of pairs whose query becomes a passage cut out of the document
  double word_dropout = 0;  // the share of words that a step does not see
};

class batches {
 public:
  // Where in the data the next batch begins: batches that are brought there go on as those it was taken from.
  struct place {
    std::uint64_t random;             // numbers to come
    std::int64_t at;                  // pairs of this epoch that have been drawn
    std::vector<std::int64_t> order;  // of this epoch
    std::vector<float> vectors;       // as given to group(); empty before
  };

  // Throws value_error if no pair is left to train on.
  batches(tokenizer const& t, std::span<tx::text::pair const> pairs, std::uint64_t seed, augmentation a);

  // Pairs in each of the next batches.
  void resize(int size);
  // From the next epoch on, batches are made of groups of `size` pairs with similar documents, so that a pair is told
  // from its like. vectors: [pairs, hidden], of all_documents().
  void group(std::vector<float> vectors, int size);
  // The documents of the pairs, as ids [pairs, document_words, slots].
  std::vector<std::int32_t> all_documents() const;

  place position() const;
  // Throws format_error for the place of other pairs. `size` as for group().
  void restore(place const& p, int size);

  void next();

  std::span<std::int32_t const> queries() const { return queries_; }
  std::span<std::int32_t const> documents() const { return documents_; }
  std::span<float const> labels() const { return labels_; }
  std::int64_t tokens() const { return tokens_; }  // in the batch, without padding
  std::size_t pairs() const { return pairs_.size(); }

 private:
  struct encoded {
    words query, document;
    float label;
  };
  std::size_t draw();
  void shuffle(std::span<std::size_t> order);
  void sort_by_likeness(std::span<std::size_t> order);
  bool chance(double share) { return share > 0 && static_cast<double>(random_() >> 32) * 0x1p-32 < share; }
  void put(std::size_t row, words const& query, words const& document, float label);
  void put_passage(std::size_t row, words const& document, float label);
  void put_rows(std::size_t row, words const& query, words const& document, float label);
  std::size_t fill(words const& text, std::span<std::int32_t> ids);

  tokenizer const& tokenizer_;
  random_numbers random_;
  augmentation augmentation_;
  std::vector<encoded> pairs_;
  bool negatives_ = false;  // the loss wants labels and the pairs have none
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
  std::vector<float> vectors_;
  std::size_t group_ = 1;
  std::vector<std::int32_t> queries_, documents_;  // the batch
  words query_, document_, thinned_;               // a row in the making
  std::vector<float> labels_;
  std::int64_t tokens_ = 0;
};

}  // namespace twinbert
