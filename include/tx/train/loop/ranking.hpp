// ranked_by_cosine(queries, documents, width, own, besides): how well each query's vector finds its own document among all, a measure to validate by.
#pragma once

#include <tx/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace tx::train {

// Means over queries.
struct ranking {
  double recall = 0;           // share whose own document beats every other
  double auc = 0;              // share of other documents that it beats, ties counting half
  double reciprocal_rank = 0;  // 1 over its place, behind those it ties with
};

namespace detail {
inline void to_length_one(std::vector<float>& vectors, std::size_t width) {
  for (std::size_t at = 0; at < vectors.size(); at += width) {
    double square = 0;  // of f32: neither too large nor too small for a double
    for (std::size_t i = 0; i < width; ++i) square += static_cast<double>(vectors[at + i]) * static_cast<double>(vectors[at + i]);
    double const scale = square > 0 ? 1 / std::sqrt(square) : 0;  // a vector of zeros stays one
    for (std::size_t i = 0; i < width; ++i) vectors[at + i] = static_cast<float>(static_cast<double>(vectors[at + i]) * scale);
  }
}
}  // namespace detail

// Vectors [queries, width] and [documents, width]; own: of each query the number of its document; besides, if given: of each query documents that are not
// others, as they are its own too. All NaN where a vector's numbers are not finite: then
// nothing is known of the order. Throws value_error for vectors that are not all of this width, for another number of own documents, and for one that is none.
inline ranking ranked_by_cosine(std::vector<float> queries, std::vector<float> documents, std::size_t width, std::span<std::size_t const> own, std::span<std::vector<std::size_t> const> besides = {}) {
  if (width == 0 || queries.size() % width != 0 || documents.size() % width != 0)
    throw value_error("ranked_by_cosine: numbers that are not whole vectors of width " + std::to_string(width) + ". FIX: queries and documents of one width, above 0");
  std::size_t const count = documents.size() / width;
  if (own.empty() || queries.size() != own.size() * width || std::ranges::any_of(own, [&](std::size_t d) { return d >= count; }))
    throw value_error("ranked_by_cosine: each query has a document of its own among the documents. FIX: as many numbers as queries, below the number of documents");
  for (auto const& more : besides)
    if (besides.size() != own.size() || std::ranges::any_of(more, [&](std::size_t d) { return d >= count; }))
      throw value_error("ranked_by_cosine: further documents of queries. FIX: a list for each query, of numbers below the number of documents");
  auto const finite = [](std::vector<float> const& vectors) { return std::ranges::all_of(vectors, [](float x) { return std::isfinite(x); }); };
  if (!finite(queries) || !finite(documents)) {
    double const unknown = std::numeric_limits<double>::quiet_NaN();
    return {unknown, unknown, unknown};
  }
  detail::to_length_one(queries, width);
  detail::to_length_one(documents, width);
  std::vector<float> columns(documents.size());  // [width, documents]: the inner loop runs over documents
  for (std::size_t d = 0; d < count; ++d)
    for (std::size_t i = 0; i < width; ++i) columns[i * count + d] = documents[d * width + i];
  std::vector<float> scores(count);
  ranking r;
  for (std::size_t q = 0; q < own.size(); ++q) {
    std::ranges::fill(scores, 0.0f);
    for (std::size_t i = 0; i < width; ++i) {
      float const x = queries[q * width + i];
      float const* const column = columns.data() + i * count;
      for (std::size_t d = 0; d < count; ++d) scores[d] += x * column[d];
    }
    float const mine = scores[own[q]];
    std::size_t others = count - 1;
    if (!besides.empty())
      for (std::size_t const d : besides[q])
        if (d != own[q] && scores[d] != -std::numeric_limits<float>::infinity()) scores[d] = -std::numeric_limits<float>::infinity(), --others;
    auto const above = std::ranges::count_if(scores, [&](float s) { return s > mine; });
    auto const level = std::ranges::count(scores, mine) - 1;
    r.recall += above == 0 && level == 0;
    r.auc += others == 0 ? 1 : 1 - (static_cast<double>(above) + 0.5 * static_cast<double>(level)) / static_cast<double>(others);
    r.reciprocal_rank += 1 / static_cast<double>(above + level + 1);
  }
  for (double* x : {&r.recall, &r.auc, &r.reciprocal_rank}) *x /= static_cast<double>(own.size());
  return r;
}

}  // namespace tx::train
