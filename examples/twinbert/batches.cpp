#include "batches.hpp"

#include <tx/core/error.hpp>

#include <algorithm>
#include <numeric>

namespace twinbert {
namespace {

std::size_t size(int a, int b, int c = 1) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c);
}

}  // namespace

batches::batches(tokenizer const& t, std::span<tx::text::pair const> pairs, std::uint64_t seed,
                 double word_dropout)
    : tokenizer_(t), random_(seed), word_dropout_(word_dropout) {
  auto const& d = compiled();
  bool const labelled = std::ranges::any_of(pairs, &tx::text::pair::labelled);
  negatives_ = d.labelled && !labelled;
  for (auto const& p : pairs) {
    if (!d.labelled && p.label < 0.5f) continue;  // this loss learns from matches alone
    pairs_.push_back({t.encode(p.query, static_cast<std::size_t>(d.query_words)),
                      t.encode(p.document, static_cast<std::size_t>(2 * d.document_words)), p.label});
  }
  if (pairs_.empty()) throw tx::value_error("no pair has a label of 0.5 or more: there is nothing to train on");
  order_.resize(pairs_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  at_ = order_.size();
  queries_.resize(size(d.batch, d.query_words, d.slots()));
  documents_.resize(size(d.batch, d.train_document_words, d.slots()));
  labels_.resize(static_cast<std::size_t>(d.batch));
}

// Every pair once before any comes again.
std::size_t batches::draw() {
  if (at_ == order_.size()) {
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
    at_ = 0;
  }
  return order_[at_++];
}

void batches::next() {
  tokens_ = 0;
  // A pair that comes twice in a batch would be its own negative: what an epoch leaves over is left out.
  if (order_.size() >= labels_.size() && order_.size() - at_ < labels_.size()) at_ = order_.size();
  for (std::size_t row = 0; row < labels_.size(); ++row) {
    encoded const& p = pairs_[draw()];
    bool const negative = negatives_ && row % 2 == 1;
    put(row, p, negative ? pairs_[random_.below(pairs_.size())].document : p.document, negative ? 0.0f : p.label);
  }
}

// The text from `first` on without the words that drop out; at least one stays.
words const& batches::thinned(words const& text, std::size_t first) {
  auto const slots = static_cast<std::ptrdiff_t>(compiled().slots());
  auto const limit = static_cast<std::uint64_t>(word_dropout_ * 0x1p32);
  thinned_.clear();
  for (auto at = text.begin() + static_cast<std::ptrdiff_t>(first) * slots; at != text.end(); at += slots)
    if (word_dropout_ == 0 || (random_() >> 32) >= limit) thinned_.insert(thinned_.end(), at, at + slots);
  if (thinned_.empty() && !text.empty()) thinned_.assign(text.begin(), text.begin() + slots);
  return thinned_;
}

void batches::put(std::size_t row, encoded const& query, words const& document, float label) {
  auto const& d = compiled();
  auto const room = [&](std::vector<std::int32_t>& ids, int words) {
    std::size_t const each = size(words, d.slots());
    return std::span(ids).subspan(row * each, each);
  };
  // A document that a step cannot see whole is seen from its start half of the time, else from anywhere.
  std::size_t const words = document.size() / static_cast<std::size_t>(d.slots());
  auto const seen = static_cast<std::size_t>(d.train_document_words - (d.special_tokens ? 2 : 0));
  std::size_t first = 0;
  if (words > seen && random_() % 2 == 1) first = random_.below(words - seen + 1);
  tokens_ += static_cast<std::int64_t>(tokenizer_.fill(thinned(query.query, 0), 0, room(queries_, d.query_words)) +
                                       tokenizer_.fill(thinned(document, first), 0, room(documents_, d.train_document_words)));
  labels_[row] = label;
}

}  // namespace twinbert
