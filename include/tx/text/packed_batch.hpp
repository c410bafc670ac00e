// A batch of texts of unequal length, one after the other instead of each padded to the longest: what the packed forms of nn::bert and
// nn::self_attention take: tensor<i32, dyn<Tokens>> for what is per token, so that only the tokens there are are computed, and
// tensor<i32, Texts + 1> for where texts begin.
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
  static_assert(Texts > 0 && Longest > 0 && Tokens > 0, "tx::text::packed_batch: there is no room. FIX: at least 1 text, 1 word each and 1 token");

 public:
  static constexpr int most_texts = Texts, longest = Longest, most_tokens = Tokens;

  // Per token:
  std::vector<i32> ids;
  std::vector<i32> positions;  // within its text
  std::vector<i32> types;      // 0 unless said
  // [Texts + 1]: text t has the tokens from offsets[t] up to offsets[t + 1]; texts that are not there have none.
  std::vector<i32> offsets = std::vector<i32>(Texts + 1, 0);

  packed_batch() {
    for (auto* per_token : {&ids, &positions, &types}) per_token->reserve(Tokens);
  }
  int texts() const { return texts_; }
  int tokens() const { return static_cast<int>(ids.size()); }

  // False, and nothing is added, where there is no room left. of_tokens: their types, or nothing. Errors: value_error for a text that no batch has
  // room for, and for types that are not one for each token.
  bool add(std::span<i32 const> text, std::span<i32 const> of_tokens = {}) {
    int const count = static_cast<int>(text.size());
    if (text.size() > static_cast<std::size_t>(std::min(Longest, Tokens)))
      throw value_error("packed_batch: a text has " + std::to_string(text.size()) + " tokens; there is room for " + std::to_string(std::min(Longest, Tokens)) + ". FIX: cut the text, or a batch of longer ones");
    if (!of_tokens.empty() && of_tokens.size() != text.size())
      throw value_error("packed_batch: a text of " + std::to_string(text.size()) + " tokens has " + std::to_string(of_tokens.size()) + " types");
    if (texts_ == Texts || tokens() + count > Tokens) return false;
    for (int i = 0; i < count; ++i) {
      ids.push_back(text[static_cast<std::size_t>(i)]);
      positions.push_back(i);
      types.push_back(of_tokens.empty() ? 0 : of_tokens[static_cast<std::size_t>(i)]);
    }
    ++texts_;
    std::fill(offsets.begin() + texts_, offsets.end(), tokens());
    return true;
  }

  void clear() {
    for (auto* per_token : {&ids, &positions, &types}) per_token->clear();
    std::fill(offsets.begin(), offsets.end(), 0);
    texts_ = 0;
  }

 private:
  int texts_ = 0;
};

}  // namespace tx::text
