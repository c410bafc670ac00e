// logistic_loss(logits, labels), in_batch_softmax_loss(queries, documents): losses of models that match two texts.
// logits [batch], labels [batch] -> scalar; queries [batch, H], documents [batch, H] -> scalar.
#pragma once

#include <tx/ops/binary_cross_entropy.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/normalize.hpp>
#include <tx/ops/slice.hpp>

namespace tx::nn {

// Logits [batch], labels [batch] -> scalar: binary cross-entropy. Labels are 0 or 1, or a teacher's probabilities.
template <typed_handle S, typed_handle L>
constexpr auto logistic_loss(S const& logits, L const& labels) {
  if constexpr (L::info.type == S::info.type)
    return binary_cross_entropy_with_logits(logits, labels);
  else
    return binary_cross_entropy_with_logits(logits, cast<typename S::element_type>(labels));
}

// Queries [batch, H], their documents [batch, H] -> scalar: each query is to find its own document among all of the
// batch by cosine x Scale.
template <int Scale = 20, typed_handle Q, typed_handle D>
constexpr auto in_batch_softmax_loss(Q const& queries, D const& documents) {
  static_assert(Q::dims == D::dims && Q::dims.rank == 2,
                "tx::nn::in_batch_softmax_loss: both sides are [batch, width]. FIX: reshape<batch, width>(x)");
  auto const logits = matmul(normalize(queries) * Scale, transpose(normalize(documents)));  // [batch, batch]
  return cross_entropy(logits, reshape<Q::dims[0]>(iota<0>(slice<1, 0, 1>(queries))));
}

}  // namespace tx::nn
