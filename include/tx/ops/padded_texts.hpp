// Packed texts laid out one beside the other, each as long as the longest, and back: for what works on batches of equal length.
//
//   before   x [tokens, width] of texts that begin at offsets [texts + 1]
//   after    places = where(j < length, start + j, -1) [texts, longest], take(x, places) [texts, longest, width], 0 past a text's end
//   back     slots = where(a text has the token, its number * longest + place, -1) [tokens], take(padded, slots) [tokens, width]
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/take.hpp>
#include <tx/ops/where.hpp>

namespace tx::detail {

class padded_texts {
 public:
  constexpr padded_texts() = default;
  // tokens: the shape of what is packed.
  constexpr padded_texts(var offsets, int longest, shape tokens) : texts_(offsets.dims().dim[0] - 1), longest_(longest) {
    graph& g = *offsets.g;
    var const starts = slice(offsets, 0, 0, texts_, 1), ends = slice(offsets, 0, 1, texts_, 1);
    var const lengths = minimum(ends - starts, longest);

    shape const column{2, {}, {texts_, 1}}, row{2, {}, {1, texts_}};
    var const place = iota(g, shape{2, {}, {texts_, longest}}, 1);
    seen_ = less(place, reshape(lengths, column));
    places_ = where(seen_, reshape(starts, column) + place, -1);

    shape const each = extents(tokens.at(0), texts_);
    var const at = iota(g, each, 0) - reshape(starts, row);
    var const has = logical_and(less_equal(0, at), less(at, reshape(lengths, row)));
    slots_ = sum_fn<-1>{}(where(has, iota(g, each, 1) * longest + at + 1, 0)) - 1;
    slots_ = reshape(slots_, extents(tokens.at(0)));
  }

  // Which places have a token, [texts, longest].
  constexpr var seen() const { return seen_; }
  // [tokens, width] -> [texts, longest, width]
  constexpr var padded(var x) const { return take_fn{}(x, places_); }
  // [texts, longest, width] -> [tokens, width]
  constexpr var packed(var x) const { return take_fn{}(reshape(x, shape{2, {}, {texts_ * longest_, x.dims().last()}}), slots_); }

 private:
  int texts_ = 0, longest_ = 0;
  var seen_{}, places_{}, slots_{};
};

}  // namespace tx::detail
