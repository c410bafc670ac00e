// weighted_pooler, cls_pooler: one vector for a text, 0 for a text without words,
// [batch, words, hidden], bool [batch, words] -> [batch, hidden].
#pragma once

#include <tx/expr/param.hpp>
#include <tx/nn/key_mask.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/softmax.hpp>

namespace tx::nn {

// The mean of the words, weighted by the softmax of a linear function of each. That function needs no constant term:
// the softmax would take it out again.
struct weighted_pooler {
  template <int H>
  struct type {
    param<tensor<f32, H>> weight;

    template <typed_handle X, typed_handle M>
    constexpr auto operator()(X const& x, M const& mask) const {
      constexpr shape s = X::dims;
      auto const scores = where(mask, reshape<s[0], s[1]>(sum<-1>(x * weight)), masked_score);
      auto const weights = where(mask, softmax(scores), 0.0);  // [batch, words]
      return reshape<s[0], H>(matmul(reshape<s[0], 1, s[1]>(weights), x));
    }
  };
};

// The first word, which WordPiece's [CLS] is.
struct cls_pooler {
  template <int H>
  struct type {
    template <typed_handle X, typed_handle M>
    constexpr auto operator()(X const& x, M const& mask) const {
      return where(slice<1, 0, 1>(mask), reshape<X::dims[0], H>(slice<1, 0, 1>(x)), 0.0);
    }
  };
};

}  // namespace tx::nn
