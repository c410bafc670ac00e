// Learns a WordPiece vocabulary by byte-pair-encoding merges over a table of word frequencies.
#pragma once

#include <tx/text/basic_tokenizer.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tx::text::detail {

// Every word starts as its characters, all but the first marked ##. The pair of neighbours most frequent over all words
// (ties: least in byte order, left piece first) becomes a piece, again and again. Nothing depends on hash order.
class wordpiece_trainer {
 public:
  static constexpr std::int64_t least_count = 2;        // a pair seen once is no pattern
  static constexpr std::size_t most_characters = 1000;  // rarer characters stay unknown, as do the words with them

  void add(std::string_view text) {
    for_each_word(text, [&](std::string_view text_word, std::size_t characters) {
      if (characters > max_word_characters) return true;
      key_.assign(text_word);
      auto const [at, fresh] = table_.try_emplace(key_, words_.size());
      if (fresh) words_.push_back({{}, 0});
      ++words_[at->second].count;
      return true;
    });
  }

  // At most `size` pieces: characters in byte order, then merges in the order they were found.
  std::vector<std::string> learn(std::size_t size) {
    split(std::min(size, most_characters));
    count_pairs();
    while (pieces_.size() < size && merge_best()) {
    }
    return std::move(pieces_);
  }

 private:
  using pair_key = std::uint64_t;  // left piece << 32 | right piece

  struct word {
    std::vector<std::uint32_t> pieces;
    std::int64_t count;
  };
  struct pair_info {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;  // all that hold the pair, and some that did
  };
  struct candidate {
    std::int64_t count;  // at least the pair's count of now
    pair_key pair;
  };

  static pair_key key(std::uint32_t left, std::uint32_t right) { return (pair_key{left} << 32) | right; }
  static std::uint32_t left(pair_key k) { return static_cast<std::uint32_t>(k >> 32); }
  static std::uint32_t right(pair_key k) { return static_cast<std::uint32_t>(k); }

  // Whether a is the worse choice, for a heap with the best on top.
  bool worse(candidate const& a, candidate const& b) const {
    if (a.count != b.count) return a.count < b.count;
    if (left(a.pair) != left(b.pair)) return pieces_[left(a.pair)] > pieces_[left(b.pair)];
    return pieces_[right(a.pair)] > pieces_[right(b.pair)];
  }

  template <class Each>
  static void for_each_character(std::string_view text, Each&& each) {
    for (std::size_t i = 0; i < text.size();) {
      std::size_t const length = io::decode_utf8(text, i).length;
      each((i == 0 ? "" : "##") + std::string(text.substr(i, length)));
      i += length;
    }
  }

  // Chooses the characters and turns every word into them; a word with an unchosen one drops out.
  void split(std::size_t most) {
    std::unordered_map<std::string, std::int64_t> counts;
    for (auto const& entry : table_) {
      std::int64_t const count = words_[entry.second].count;
      for_each_character(entry.first, [&](std::string const& piece) { counts[piece] += count; });
    }
    std::vector<std::pair<std::string, std::int64_t>> order(counts.begin(), counts.end());
    std::ranges::sort(order, [](auto const& a, auto const& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    order.resize(std::min(order.size(), most));
    std::ranges::sort(order);
    for (auto const& [piece, count] : order) piece_id(piece);
    for (auto const& [text, at] : table_) {
      auto& pieces = words_[at].pieces;
      bool known = true;
      for_each_character(text, [&](std::string const& piece) {
        auto const id = ids_.find(piece);
        known = known && id != ids_.end();
        if (known) pieces.push_back(id->second);
      });
      if (!known) pieces.clear();
    }
    table_.clear();
  }

  std::uint32_t piece_id(std::string const& text) {
    auto const [at, fresh] = ids_.try_emplace(text, static_cast<std::uint32_t>(pieces_.size()));
    if (fresh) pieces_.push_back(text);
    return at->second;
  }

  void count_pairs() {
    for (std::uint32_t w = 0; w < words_.size(); ++w) {
      auto const& pieces = words_[w].pieces;
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i) change(key(pieces[i], pieces[i + 1]), words_[w].count, w);
    }
    push_changed();
  }

  void change(pair_key k, std::int64_t by, std::uint32_t w) {
    auto& info = pairs_[k];
    info.count += by;
    if (by <= 0) return;
    if (info.words.empty() || info.words.back() != w) info.words.push_back(w);
    changed_.push_back(k);
  }

  void push_changed() {
    std::ranges::sort(changed_);
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
    for (pair_key const k : changed_) push({pairs_[k].count, k});
    changed_.clear();
  }

  void push(candidate c) {
    if (c.count < least_count) return;
    heap_.push_back(c);
    std::ranges::push_heap(heap_, [&](auto const& a, auto const& b) { return worse(a, b); });
  }

  // False when no pair is frequent enough.
  bool merge_best() {
    while (!heap_.empty()) {
      std::ranges::pop_heap(heap_, [&](auto const& a, auto const& b) { return worse(a, b); });
      candidate const c = heap_.back();
      heap_.pop_back();
      auto const at = pairs_.find(c.pair);
      if (at == pairs_.end()) continue;
      // A count that fell since the candidate was pushed: it takes its place among the others again.
      if (at->second.count != c.count) {
        if (at->second.count < c.count) push({at->second.count, c.pair});
        continue;
      }
      auto const words = std::move(at->second.words);
      pairs_.erase(at);
      // Two ways to the same text make one piece.
      std::uint32_t const merged = piece_id(pieces_[left(c.pair)] + pieces_[right(c.pair)].substr(2));
      for (std::uint32_t const w : words) merge_in(w, c.pair, merged);
      pairs_.erase(c.pair);
      push_changed();
      return true;
    }
    return false;
  }

  void merge_in(std::uint32_t w, pair_key k, std::uint32_t merged) {
    auto& pieces = words_[w].pieces;
    std::int64_t const count = words_[w].count;
    std::size_t out = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i, ++out) {
      if (i + 1 == pieces.size() || pieces[i] != left(k) || pieces[i + 1] != right(k)) {
        pieces[out] = pieces[i];
        continue;
      }
      if (out > 0) {
        change(key(pieces[out - 1], left(k)), -count, w);
        change(key(pieces[out - 1], merged), count, w);
      }
      if (i + 2 < pieces.size()) {
        change(key(right(k), pieces[i + 2]), -count, w);
        change(key(merged, pieces[i + 2]), count, w);
      }
      pieces[out] = merged;
      ++i;
    }
    pieces.resize(out);
  }

  std::string key_;
  std::unordered_map<std::string, std::size_t> table_;  // word to its place in words_
  std::vector<word> words_;
  std::vector<std::string> pieces_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::unordered_map<pair_key, pair_info> pairs_;
  std::vector<pair_key> changed_;
  std::vector<candidate> heap_;
};

}  // namespace tx::text::detail
