// elu(x, alpha): x above 0, else alpha (exp(x) - 1) (Clevert et al., arXiv 1511.07289). [...] -> the same. The gradient at 0 is alpha.
#pragma once

#include <tx/ops/expm1.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
struct elu_fn {
  constexpr var operator()(var x, var alpha) const {
    var const above = less(0, x);
    var const rest = where(above, 0.0, x);  // or the side that is not taken overflows, and 0 times its slope is NaN
    return where(above, x, expm1(rest) * alpha);
  }
};
}  // namespace detail

template <handle X>
constexpr auto elu(X const& x, double alpha = 1) {
  return lift<detail::elu_fn>(x, alpha);
}

}  // namespace tx
