// nll(log_probabilities [..., C], labels [...]) -> scalar: the mean of -log_probabilities[label].
//
// nll(log_probabilities, labels, per_class{weights [C]}, label_options{.ignore_index = -100, .label_smoothing = 0.1}),
// either of the last two or both, is PyTorch's weighted mean: a row counts as much as the weight of its label, rows of
// label `ignore_index` not at all; with smoothing s a row's loss is (1 - s) that of its label + s / C the sum over all
// classes, each by its weight (Szegedy et al., arXiv 1512.00567). 0 where no row counts (PyTorch's NaN).
//
// Errors: an argument with a label outside [0, C), but for ignore_index, is refused before the step runs; of labels that
// the program computes (where, arithmetic, take) those outside are not found, and such a row has the loss 0 but counts.
// Weights that are not [C] and smoothing outside [0, 1] do not compile.
#pragma once

#include <tx/ops/cast.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/in_range.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/not_equal.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/where.hpp>

namespace tx {

// Weights of the classes, a tensor [C] of the type of the logits.
template <handle W>
struct per_class {
  W weights;
};
template <handle W>
per_class(W) -> per_class<W>;

struct label_options {
  static constexpr std::int64_t no_label = -(1 << 24);  // smaller than any that is needed; a float holds it

  std::int64_t ignore_index = no_label;
  double label_smoothing = 0;
};

namespace detail {

// Where each row's label lies among the classes.
struct labelled {
  var column;  // [..., 1], the label
  var hit;     // [..., C] bool
};
constexpr labelled find_labels(var scores, var labels, std::int64_t also) {
  shape rows = scores.dims();
  if (!is_integer(labels.type())) throw invalid("cross_entropy, nll: labels must be integers. FIX: tensor<tx::i32, ...>");
  if (rows.rank < 1 || labels.dims().rank + 1 != rows.rank)
    throw invalid("cross_entropy, nll: labels have the axes of the logits less the last one, the classes, and these have others. FIX: reshape the logits to [rows, classes]; argmax of one-hot labels");
  if (rows.is_bounded(rows.rank - 1)) throw invalid("cross_entropy, nll: the number of classes is bounded, and so is what a label may be. FIX: a fixed last axis");
  for (int i = 0; i + 1 < rows.rank; ++i)
    if (!(rows.at(i) == labels.dims().at(i)))
      throw invalid("cross_entropy, nll: labels and logits differ in their leading extents. FIX: make them equal");
  rows.set_last(1);
  var const column = as_positions(reshape(in_range(labels, 0, scores.dims().last(), also), rows));
  return {column, at_positions(scores.dims(), column)};
}

// -log_probabilities[label] of each row: [..., C], [...] -> [...]
constexpr var label_losses(var log_probabilities, var labels) {
  shape const rows = labels.dims();
  var const picked = where(find_labels(log_probabilities, labels, 0).hit, log_probabilities, 0.0);
  return -reshape(sum_fn<-1>{}(picked), rows);
}

// With options; weights: [C] or invalid. The options come as numbers of the graph, which is how functions of handles
// take them.
constexpr var label_loss(var log_probabilities, var labels, var weights, var smoothing, var ignore) {
  double share = 0;
  double ignored = 0;
  if (!is_constant(*labels.g, smoothing.id, share) || !is_constant(*labels.g, ignore.id, ignored))
    throw invalid("cross_entropy, nll: options are numbers known while compiling. FIX: label_options{.ignore_index = -100}");
  var const logp = log_probabilities;
  double const classes = logp.dims().last();
  bool const ignores = ignored != static_cast<double>(label_options::no_label);
  auto const [column, hit] = find_labels(logp, labels, ignores ? static_cast<std::int64_t>(ignored) : 0);
  shape const rows = column.dims();
  var weight = broadcast_to(constant(*logp.g, logp.type(), 1), rows);
  var each = logp;
  if (weights.valid()) {
    if (!(weights.dims() == shape{1, {}, {logp.dims().last()}}))
      throw invalid("cross_entropy, nll: per_class holds one weight for each class. FIX: give it the shape [classes]");
    weight = sum_fn<-1>{}(where(hit, weights, 0.0));
    each = logp * weights;
  }
  var loss = sum_fn<-1>{}(where(hit, each, 0.0)) * (share - 1);
  if (share != 0) loss = loss - sum_fn<-1>{}(each) * (share / classes);
  if (ignores) {
    var const counts = not_equal(column, static_cast<std::int64_t>(ignored));
    loss = where(counts, loss, 0.0);
    weight = where(counts, weight, 0.0);
  }
  var const total = sum_all(weight);
  return sum_all(loss) / where(equal(total, 0.0), 1.0, total);
}

constexpr label_options checked(label_options const& o) {
  if (!(o.label_smoothing >= 0 && o.label_smoothing <= 1))
    throw invalid("label_smoothing is a share. FIX: a number from 0 to 1");
  if (o.ignore_index < label_options::no_label || o.ignore_index > -label_options::no_label)
    throw invalid("ignore_index is beyond any label. FIX: a number within +-2^24, such as -100");
  return o;
}

struct nll_fn {
  constexpr var operator()(var logp, var labels) const { return mean_fn<>{}(label_losses(logp, labels)); }
  // Labels first: numbers have the type of the last tensor.
  constexpr var operator()(var labels, var logp, var smoothing, var ignore) const {
    return label_loss(logp, labels, {}, smoothing, ignore);
  }
  constexpr var operator()(var labels, var weights, var logp, var smoothing, var ignore) const {
    return label_loss(logp, labels, weights, smoothing, ignore);
  }
};

}  // namespace detail

template <handle P, handle Y>
constexpr auto nll(P const& log_probabilities, Y const& labels) {
  return lift<detail::nll_fn>(log_probabilities, labels);
}
template <handle P, handle Y>
constexpr auto nll(P const& log_probabilities, Y const& labels, label_options const& options) {
  auto const o = detail::checked(options);
  return lift<detail::nll_fn>(labels, log_probabilities, o.label_smoothing, o.ignore_index);
}
template <handle P, handle Y, handle W>
constexpr auto nll(P const& log_probabilities, Y const& labels, per_class<W> const& by,
                   label_options const& options = {}) {
  auto const o = detail::checked(options);
  return lift<detail::nll_fn>(labels, by.weights, log_probabilities, o.label_smoothing, o.ignore_index);
}

}  // namespace tx
