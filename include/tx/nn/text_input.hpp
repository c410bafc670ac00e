// wordpiece, tri_letter<Slots>: how texts reach a model: what ids look like, which of their places hold a word, and the vectors of the words.
// ids [batch, words] or [batch, words, Slots] -> bool [batch, words], vectors [batch, words, hidden].
#pragma once

#include <tx/ops/less.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/slice.hpp>

namespace tx::nn {

// One id a word (WordPiece); 0 is [PAD].
struct wordpiece {
  template <auto Batch, int Words>
  using ids = tensor<i32, Batch, Words>;

  // [batch, words] -> bool [batch, words]
  template <typed_handle Ids>
  static constexpr auto mask(Ids const& ids) {
    return less(0, ids);
  }
  // [batch, words] -> [batch, words, hidden]
  static constexpr auto vectors(auto const& table, typed_handle auto const& ids) { return table(ids); }
};

// A word is a bag of at most Letters trigrams; -1 is an empty place, and a word whose first place is empty is none.
template <int Letters>
struct tri_letter {
  template <auto Batch, int Words>
  using ids = tensor<i32, Batch, Words, Letters>;

  // [batch, words, letters] -> bool [batch, words]
  template <typed_handle Ids>
  static constexpr auto mask(Ids const& ids) {
    return less_equal(0, reshape<Ids::dims[0], Ids::dims[1]>(slice<2, 0, 1>(ids)));
  }
  // [batch, words, letters] -> [batch, words, hidden]
  static constexpr auto vectors(auto const& table, typed_handle auto const& ids) { return table.bag(ids); }
};

}  // namespace tx::nn
