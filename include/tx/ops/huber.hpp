// huber<reduction>(prediction, target, delta): of each error e, e^2 / 2 up to |e| = delta, delta (|e| - delta / 2)
// beyond (Huber, Robust Estimation of a Location Parameter, 1964). smooth_l1<reduction>(prediction, target, beta) is
// that over beta, with delta = beta. [...], [...] -> scalar; with reduction::none [...]. By default the mean.
// Errors: tensors of two shapes; delta or beta not above 0.
#pragma once

#include <tx/ops/clamp.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/reduction.hpp>
#include <tx/ops/sub.hpp>

namespace tx {

namespace detail {
// With c the error kept within +-delta both cases are c (e - c / 2), and so is their slope, c.
constexpr var huber_terms(var prediction, var target, var delta) {
  check_compared(prediction, target);
  var const error = prediction - target;
  var const kept = clamp(error, -delta, delta);
  return kept * (error - kept * 0.5);
}
template <reduction R>
struct huber_fn {
  constexpr var operator()(var prediction, var target, var delta) const {
    return reduced<R>(huber_terms(prediction, target, delta));
  }
};
template <reduction R>
struct smooth_l1_fn {
  constexpr var operator()(var prediction, var target, var beta) const {
    return reduced<R>(huber_terms(prediction, target, beta) * (1.0 / beta));
  }
};
}  // namespace detail

template <reduction R = reduction::mean, handle X, handle Y>
constexpr auto huber(X const& prediction, Y const& target, double delta = 1) {
  if (!(delta > 0)) throw invalid("huber: delta must be above 0. FIX: mse(x, y), or mean(abs(x - y))");
  return lift<detail::huber_fn<R>>(prediction, target, delta);
}
template <reduction R = reduction::mean, handle X, handle Y>
constexpr auto smooth_l1(X const& prediction, Y const& target, double beta = 1) {
  if (!(beta > 0)) throw invalid("smooth_l1: beta must be above 0. FIX: mean(abs(x - y)) is its limit at 0");
  return lift<detail::smooth_l1_fn<R>>(prediction, target, beta);
}

}  // namespace tx
