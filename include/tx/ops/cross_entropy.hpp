// cross_entropy(logits [..., C], labels [...]) -> scalar: the mean of -log softmax(logits)[label].
// Errors: an argument with a label outside [0, C) is refused before the step runs.
#pragma once

#include <tx/ops/cast.hpp>
#include <tx/ops/in_range.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/softmax.hpp>

namespace tx {

namespace detail {
struct cross_entropy_fn {
  constexpr var operator()(var logits, var labels) const {
    shape rows = logits.dims();
    if (rows.rank < 1 || labels.dims().rank + 1 != rows.rank || !is_integer(labels.type()))
      throw invalid("cross_entropy: labels must be integers with the shape of the logits less the last axis");
    for (int i = 0; i + 1 < rows.rank; ++i)
      if (rows.dim[i] != labels.dims().dim[i]) throw invalid("cross_entropy: labels and logits differ in their leading extents");
    rows.dim[rows.rank - 1] = 1;
    var const column = cast(reshape(in_range(labels, 0, logits.dims().last()), rows), dtype::i32);
    var const logp = log_softmax(logits);
    var const picked = where(equal(iota(*logits.g, logits.dims(), -1), column), logp, 0.0);
    return -mean_fn<>{}(reshape(sum_fn<-1>{}(picked), labels.dims()));
  }
};
}  // namespace detail

template <handle L, handle Y>
constexpr auto cross_entropy(L const& logits, Y const& labels) {
  return lift<detail::cross_entropy_fn>(logits, labels);
}

}  // namespace tx
