// cross_entropy(logits [..., C], labels [...]) -> scalar: the mean of -log softmax(logits)[label].
// cross_entropy(logits [..., C], labels [...], weights [...]) -> scalar: the mean weighted by row; 0 where all weights
// are. A row of weight 0 needs a label within range and finite logits too, whatever they are.
// cross_entropy(logits, labels, per_class{weights [C]}, label_options{.ignore_index = -100, .label_smoothing = 0.1}),
// either of the last two or both: PyTorch's weighted mean, see nll.hpp.
// Errors: an argument with a label outside [0, C), but for ignore_index, is refused before the step runs.
#pragma once

#include <tx/ops/nll.hpp>
#include <tx/ops/softmax.hpp>

namespace tx {

namespace detail {
struct cross_entropy_fn {
  constexpr var operator()(var logits, var labels) const {
    return mean_fn<>{}(label_losses(log_softmax(logits), labels));
  }
  constexpr var operator()(var logits, var labels, var weights) const {
    if (!(weights.dims() == labels.dims()))
      throw invalid("cross_entropy: weights must have the shape of the labels. FIX: per_class{weights} if there is one for each class");
    var const total = sum_all(weights);
    return sum_all(label_losses(log_softmax(logits), labels) * weights) / where(equal(total, 0.0), 1.0, total);
  }
  // Labels first: numbers have the type of the last tensor.
  constexpr var operator()(var labels, var logits, var smoothing, var ignore) const {
    return label_loss(log_softmax(logits), labels, {}, smoothing, ignore);
  }
  constexpr var operator()(var labels, var weights, var logits, var smoothing, var ignore) const {
    return label_loss(log_softmax(logits), labels, weights, smoothing, ignore);
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
template <handle L, handle Y>
constexpr auto cross_entropy(L const& logits, Y const& labels, label_options const& options) {
  auto const o = detail::checked(options);
  return lift<detail::cross_entropy_fn>(labels, logits, o.label_smoothing, o.ignore_index);
}
template <handle L, handle Y, handle W>
constexpr auto cross_entropy(L const& logits, Y const& labels, per_class<W> const& by,
                             label_options const& options = {}) {
  auto const o = detail::checked(options);
  return lift<detail::cross_entropy_fn>(labels, by.weights, logits, o.label_smoothing, o.ignore_index);
}

}  // namespace tx
