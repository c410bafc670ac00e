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

 private:
  std::uint64_t state_;
};

class batches {
 public:
  // Throws value_error if no pair is left to train on.
  // word_dropout: the share of words that a step does not see, other ones each time.
  batches(tokenizer const& t, std::span<tx::text::pair const> pairs, std::uint64_t seed, double word_dropout);

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
  void put(std::size_t row, encoded const& query, words const& document, float label);
  std::size_t draw();
  words const& thinned(words const& text, std::size_t first);

  tokenizer const& tokenizer_;
  random_numbers random_;
  std::vector<encoded> pairs_;
  double word_dropout_;
  words thinned_;
  bool negatives_;  // the loss wants labels and the pairs have none
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
  std::vector<std::int32_t> queries_, documents_;
  std::vector<float> labels_;
  std::int64_t tokens_ = 0;
};

}  // namespace twinbert
