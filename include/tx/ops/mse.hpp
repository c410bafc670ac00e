// mse<reduction>(prediction, target): (prediction - target)^2, by default their mean. [...], [...] -> scalar; with reduction::none [...].
// Errors: tensors of two shapes.
#pragma once

#include <tx/ops/reduction.hpp>
#include <tx/ops/sub.hpp>

namespace tx {

namespace detail {
template <reduction R>
struct mse_fn {
  constexpr var operator()(var prediction, var target) const {
    check_compared(prediction, target);
    var const error = prediction - target;
    return reduced<R>(error * error);
  }
};
}  // namespace detail

template <reduction R = reduction::mean, handle X, handle Y>
constexpr auto mse(X const& prediction, Y const& target) {
  return lift<detail::mse_fn<R>>(prediction, target);
}

}  // namespace tx
