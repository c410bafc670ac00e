// How well scores tell what matches.
#pragma once

#include "engine.hpp"
#include "tokenizer.hpp"

#include <tx/text/pairs.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace twinbert {

// One score per pair, in order.
std::vector<float> score_pairs(engine& e, tokenizer const& t, std::span<tx::text::pair const> pairs);
// Vectors [texts, hidden].
std::vector<float> encode_texts(engine& e, tokenizer const& t, side s, std::span<std::string_view const> texts);

struct quality {
  std::size_t pairs = 0;
  double auc = 0;                // matches against others
  std::optional<double> recall;  // the share of queries whose own document is first of all the file's documents
  std::size_t queries = 0, documents = 0;  // that recall is measured on

  // What validation picks a state by.
  double value() const { return auc; }
};

// Labelled pairs: AUC over the labels. Pairs without labels: each query's own document against all others where the score is a cosine, else against one
// of another query.
// Recall needs vectors whose cosine is the score, and time.
quality evaluate(engine& e, tokenizer const& t, std::span<tx::text::pair const> pairs, bool recall);

}  // namespace twinbert
