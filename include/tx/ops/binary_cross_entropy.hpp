// binary_cross_entropy_with_logits<reduction>(x, y): log(1 + exp(x)) - x y for targets y in [0, 1], without overflow; by default the mean.
// [...], [...] -> scalar; with reduction::none [...].
// Errors: tensors of two shapes.
#pragma once

#include <tx/ops/exp.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/log1p.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/reduction.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
template <reduction R>
struct binary_cross_entropy_fn {
  constexpr var operator()(var x, var y) const {
    check_compared(x, y);
    var const above = less(0.0, x);  // one case at 0 too: the maximum and |x| have kinks there that their sum has not
    return reduced<R>(where(above, x, 0.0) - x * y + log1p(exp(where(above, -x, x))));
  }
};
}  // namespace detail

template <reduction R = reduction::mean, handle X, handle Y>
constexpr auto binary_cross_entropy_with_logits(X const& x, Y const& y) {
  return lift<detail::binary_cross_entropy_fn<R>>(x, y);
}

}  // namespace tx
