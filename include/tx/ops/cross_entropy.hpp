// cross_entropy(logits [..., C], labels [...]) -> scalar: the mean of -log softmax(logits)[label].
// cross_entropy(logits [..., C], labels [...], weights [...]) -> scalar: the mean weighted by row; 0 where all weights are. A row of
// weight 0 needs a label too, which is not looked at.
// Errors: an argument with a label outside [0, C) is refused before the step runs.
#pragma once

#include <tx/ops/cast.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/in_range.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
// -log softmax(logits)[label] of each row: [..., C], [...] -> [...]
struct label_losses_fn {
  constexpr var operator()(var logits, var labels) const {
    shape rows = logits.dims();
    if (rows.rank < 1 || labels.dims().rank + 1 != rows.rank || !is_integer(labels.type()))
      throw invalid("cross_entropy: labels must be integers with the shape of the logits less the last axis. FIX: tensor<tx::i32, ...> of that shape");
    for (int i = 0; i + 1 < rows.rank; ++i)
      if (rows.dim[i] != labels.dims().dim[i]) throw invalid("cross_entropy: labels and logits differ in their leading extents");
    rows.dim[rows.rank - 1] = 1;
    var const column = cast(reshape(in_range(labels, 0, logits.dims().last()), rows), dtype::i32);
    var const logp = log_softmax(logits);
    var const picked = where(equal(iota(*logits.g, logits.dims(), -1), column), logp, 0.0);
    return -reshape(sum_fn<-1>{}(picked), labels.dims());
  }
};
struct cross_entropy_fn {
  constexpr var operator()(var logits, var labels) const { return mean_fn<>{}(label_losses_fn{}(logits, labels)); }
  constexpr var operator()(var logits, var labels, var weights) const {
    if (!(weights.dims() == labels.dims())) throw invalid("cross_entropy: weights must have the shape of the labels");
    var const total = sum_all(weights);
    return sum_all(label_losses_fn{}(logits, labels) * weights) / where(equal(total, 0.0), 1.0, total);
  }
};
}  // namespace detail

template <handle L, handle Y>
constexpr auto cross_entropy(L const& logits, Y const& labels) {
  return lift<detail::cross_entropy_fn>(logits, labels);
}
template <handle L, handle Y, handle W>
constexpr auto cross_entropy(L const& logits, Y const& labels, W const& weights) {
  return lift<detail::cross_entropy_fn>(logits, labels, weights);
}

}  // namespace tx
