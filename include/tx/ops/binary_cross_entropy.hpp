// binary_cross_entropy_with_logits<reduction>(x, y): log(1 + exp(x)) - x y for targets y in [0, 1], without overflow; by default the mean.
// Errors: tensors of two shapes.
#pragma once

#include <tx/ops/abs.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/log1p.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/reduction.hpp>
#include <tx/ops/sub.hpp>

namespace tx {

namespace detail {
template <reduction R>
struct binary_cross_entropy_fn {
  constexpr var operator()(var x, var y) const {
    check_compared(x, y);
    return reduced<R>(maximum(x, constant(*x.g, x.type(), 0)) - x * y + log1p(exp(-abs(x))));
  }
};
}  // namespace detail

template <reduction R = reduction::mean, handle X, handle Y>
constexpr auto binary_cross_entropy_with_logits(X const& x, Y const& y) {
  return lift<detail::binary_cross_entropy_fn<R>>(x, y);
}

}  // namespace tx
