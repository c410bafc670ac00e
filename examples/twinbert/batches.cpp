#include "batches.hpp"

#include <tx/core/error.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace twinbert {
namespace {

std::size_t size(int a, int b, int c = 1) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c);
}

std::size_t slots() { return static_cast<std::size_t>(compiled().slots()); }

void append(words& to, words const& from, std::size_t first, std::size_t last) {
  auto const at = [&](std::size_t word) { return from.begin() + static_cast<std::ptrdiff_t>(word * slots()); };
  to.insert(to.end(), at(first), at(last));
}

// Row `row` of ids [rows, words, slots].
std::span<std::int32_t> row_of(std::vector<std::int32_t>& ids, std::size_t row, int words) {
  std::size_t const each = size(words, compiled().slots());
  return std::span(ids).subspan(row * each, each);
}

// A loss that knows no labels learns from matches alone.
bool is_trained_on(tx::text::pair const& p) { return compiled().labelled || p.label >= 0.5f; }

}  // namespace

std::size_t trained_pairs(std::span<tx::text::pair const> pairs) {
  return static_cast<std::size_t>(std::ranges::count_if(pairs, [](auto const& p) { return is_trained_on(p); }));
}

batches::batches(tokenizer const& t, std::span<tx::text::pair const> pairs, std::uint64_t seed, augmentation a, share_of_batch share)
    : tokenizer_(t), random_(seed), augmentation_(a), share_(share) {
  auto const& d = compiled();
  negatives_ = d.labelled && std::ranges::none_of(pairs, &tx::text::pair::labelled);
  for (auto const& p : pairs) {
    if (!is_trained_on(p)) continue;
    // Steps see windows of documents, so more of them is kept than one window.
    pairs_.push_back({t.encode(p.query, static_cast<std::size_t>(d.query_words)),
                      t.encode(p.document, static_cast<std::size_t>(2 * d.document_words)), p.label});
  }
  if (pairs_.empty()) throw tx::value_error("no pair has a label of 0.5 or more: there is nothing to train on");
  order_ = tx::train::epochs(pairs_.size());
  resize(d.batch);
}

void batches::resize(int pairs) {
  auto const& d = compiled();
  pairs *= share_.of;
  queries_.resize(size(pairs, d.query_words, d.slots()));
  documents_.resize(size(pairs, d.train_document_words, d.slots()));
  labels_.resize(static_cast<std::size_t>(pairs));
}

std::vector<std::int32_t> batches::all_documents() const {
  std::vector<std::int32_t> ids(pairs_.size() * size(compiled().document_words, compiled().slots()));
  for (std::size_t i = 0; i < pairs_.size(); ++i)
    tokenizer_.fill(pairs_[i].document, row_of(ids, i, compiled().document_words));
  return ids;
}

void batches::group(std::vector<float> vectors, int pairs) {
  vectors_ = std::move(vectors);
  group_ = static_cast<std::size_t>(pairs);
  order_.begin_anew();
}

void batches::save(tx::train::to_save& out) const {
  out.put("random", random_.state());
  order_.save(out);
  out.put("vectors", vectors_);
}

void batches::restore(tx::train::saved const& in, int pairs) {
  auto vectors = in.array<float>("vectors");
  if (!vectors.empty() && vectors.size() != size(static_cast<int>(order_.size()), compiled().hidden))
    throw tx::format_error("the saved place in the data is that of other pairs. FIX: resume with the same --pairs");
  order_.restore(in, "pairs", "--pairs");
  random_ = tx::train::random_numbers(in.value<std::uint64_t>("random"));
  vectors_ = std::move(vectors);
  group_ = vectors_.empty() ? 1 : static_cast<std::size_t>(pairs);
}

// Halves the pairs by which of two of them they are nearer to, and the halves again, down to groups. Other pairs are
// asked each time, so groups differ from epoch to epoch.
void batches::sort_by_likeness(std::span<std::int64_t> order) {
  if (order.size() <= group_) return;
  auto const hidden = static_cast<std::size_t>(compiled().hidden);
  float const* const a = vectors_.data() + static_cast<std::size_t>(order[random_.below(order.size())]) * hidden;
  float const* const b = vectors_.data() + static_cast<std::size_t>(order[random_.below(order.size())]) * hidden;
  std::vector<std::pair<float, std::int64_t>> nearer;
  for (std::int64_t const pair : order) {
    float const* const v = vectors_.data() + static_cast<std::size_t>(pair) * hidden;
    float sum = 0;
    for (std::size_t i = 0; i < hidden; ++i) sum += v[i] * (a[i] - b[i]);
    nearer.emplace_back(sum, pair);
  }
  std::size_t const half = (order.size() / group_ + 1) / 2 * group_;  // whole groups but for the last one
  std::ranges::sort(nearer);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = nearer[i].second;
  sort_by_likeness(order.first(half));
  sort_by_likeness(order.subspan(half));
}

// Groups in any order; what is over stays at the end.
void batches::group_by_likeness(std::span<std::int64_t> order) {
  sort_by_likeness(order);
  std::vector<std::size_t> groups(order.size() / group_);
  std::iota(groups.begin(), groups.end(), std::size_t{0});
  tx::train::shuffle(std::span(groups), random_);
  std::vector<std::int64_t> const sorted(order.begin(), order.end());
  for (std::size_t g = 0; g < groups.size(); ++g) std::copy_n(sorted.data() + groups[g] * group_, group_, order.data() + g * group_);
}

// Every pair once before any comes again.
std::size_t batches::draw() {
  return order_.next(random_, [&](std::span<std::int64_t> order) {
    if (group_ > 1) group_by_likeness(order);
  });
}

void batches::next() {
  tokens_ = 0;
  // A pair that comes twice in a batch would be its own negative: what an epoch leaves over is left out.
  if (order_.size() >= labels_.size() && order_.left() < labels_.size()) order_.begin_anew();
  for (std::size_t row = 0; row < labels_.size(); ++row) {
    encoded const& p = pairs_[draw()];
    if (negatives_ && row % 2 == 1)
      put(row, p.query, document_of_another(p), 0);
    else if (p.label >= 0.5f && p.document.size() > 12 * slots() && chance(augmentation_.cloze))
      put_passage(row, p.document, p.label);
    else
      put(row, p.query, p.document, p.label);
  }
}

// One that is neither this query's nor the same text; where there are none but those, no document is another, and the last one drawn is taken.
words const& batches::document_of_another(encoded const& p) {
  for (int tries = 0;; ++tries) {
    encoded const& other = pairs_[random_.below(pairs_.size())];
    if (tries == 100 || (other.query != p.query && other.document != p.document)) return other.document;
  }
}

// A document that a step cannot see whole is seen from its start half of the time, else from anywhere.
void batches::put(std::size_t row, words const& query, words const& document, float label) {
  auto const& d = compiled();
  std::size_t const length = document.size() / slots();
  auto const seen = static_cast<std::size_t>(d.train_document_words - (d.special_tokens ? 2 : 0));
  std::size_t first = 0;
  if (length > seen && random_() % 2 == 1) first = random_.below(length - seen + 1);
  document_.clear();
  append(document_, document, first, length);
  put_rows(row, query, document_, label);
}

// A query of 4 to 11 words that follow each other in the document, which then lacks them (the inverse cloze task of
// Lee, Chang and Toutanova, arXiv 1906.00300).
void batches::put_passage(std::size_t row, words const& document, float label) {
  std::size_t const length = document.size() / slots();
  std::size_t const count = 4 + random_.below(8);
  std::size_t const first = random_.below(length - count + 1);
  query_.clear();
  append(query_, document, first, first + count);
  document_.clear();
  append(document_, document, 0, first);
  append(document_, document, first + count, length);
  put_rows(row, query_, document_, label);
}

void batches::put_rows(std::size_t row, words const& query, words const& document, float label) {
  tokens_ += static_cast<std::int64_t>(fill(query, row_of(queries_, row, compiled().query_words)) +
                                       fill(document, row_of(documents_, row, compiled().train_document_words)));
  labels_[row] = label;
}

// Without the words that drop out; at least one stays.
std::size_t batches::fill(words const& text, std::span<std::int32_t> ids) {
  if (augmentation_.word_dropout == 0) return tokenizer_.fill(text, ids);
  thinned_.clear();
  for (std::size_t w = 0; w < text.size() / slots(); ++w)
    if (!chance(augmentation_.word_dropout)) append(thinned_, text, w, w + 1);
  return tokenizer_.fill(thinned_.empty() ? text : thinned_, ids);
}

}  // namespace twinbert
