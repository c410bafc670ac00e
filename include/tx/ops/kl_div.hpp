// kl_div<reduction>(log_probabilities, target): p (log p - log_probabilities) of each target probability p, by default
// the mean over all elements; reduction::batch_mean is the divergence of Kullback and Leibler (1951) per row. [...], [...] -> scalar; with reduction::none [...].
// A term whose p is 0 is 0, and so are its gradients, also where its log-probability is -infinity.
// Errors: tensors of two shapes.
#pragma once

#include <tx/ops/equal.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/reduction.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
template <reduction R>
struct kl_div_fn {
  constexpr var operator()(var log_probabilities, var target) const {
    check_compared(log_probabilities, target);
    var const nothing = equal(target, 0.0);
    var const p = where(nothing, 1.0, target);  // 1 log 1 is 0 too
    return reduced<R>(p * (log(p) - where(nothing, 0.0, log_probabilities)));
  }
};
}  // namespace detail

template <reduction R = reduction::mean, handle X, handle Y>
constexpr auto kl_div(X const& log_probabilities, Y const& target) {
  return lift<detail::kl_div_fn<R>>(log_probabilities, target);
}

}  // namespace tx
