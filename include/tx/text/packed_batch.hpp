// A batch of texts of unequal length, one after the other instead of each padded to the longest: what the packed forms of nn::bert and
// nn::self_attention take.
#pragma once

#include <tx/core/dtype.hpp>
#include <tx/core/error.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace tx::text {

// Room for Texts texts of at most Longest tokens each, Tokens in all.
template <int Texts, int Longest, int Tokens>
class packed_batch {
  static_assert(Texts > 0 && Longest > 0 && Tokens > 0, "tx::text::packed_batch: room for something");

 public:
  // Per token; past the last one 0, 0 and -1.
  std::vector<i32> ids = std::vector<i32>(Tokens);
  std::vector<i32> positions = std::vector<i32>(Tokens);      // within its text
  std::vector<i32> slots = std::vector<i32>(Tokens, -1);      // where it is in `places`
  // [Texts, Longest]: the number of each token of each text, -1 past its end.
  std::vector<i32> places = std::vector<i32>(Texts * Longest, -1);

  int texts() const { return texts_; }
  int tokens() const { return tokens_; }

  // False, and nothing is added, where there is no room left. Errors: value_error for a text that no batch has room for.
  bool add(std::span<i32 const> text) {
    int const count = static_cast<int>(text.size());
    if (text.size() > static_cast<std::size_t>(std::min(Longest, Tokens)))
      throw value_error("packed_batch: a text has " + std::to_string(text.size()) + " tokens; there is room for " + std::to_string(std::min(Longest, Tokens)));
    if (texts_ == Texts || tokens_ + count > Tokens) return false;
    for (int i = 0; i < count; ++i) {
      auto const token = static_cast<std::size_t>(tokens_ + i);
      auto const slot = static_cast<std::size_t>(texts_ * Longest + i);
      ids[token] = text[static_cast<std::size_t>(i)];
      positions[token] = i;
      slots[token] = static_cast<i32>(slot);
      places[slot] = static_cast<i32>(token);
    }
    tokens_ += count;
    ++texts_;
    return true;
  }

  void clear() {
    std::fill(ids.begin(), ids.end(), 0);
    std::fill(positions.begin(), positions.end(), 0);
    std::fill(slots.begin(), slots.end(), -1);
    std::fill(places.begin(), places.end(), -1);
    texts_ = tokens_ = 0;
  }

 private:
  int texts_ = 0;
  int tokens_ = 0;
};

}  // namespace tx::text
