// relu(x): x above 0, else 0; NaN stays. [...] -> the same. The gradient at 0 is 0.
#pragma once

#include <tx/ops/less_equal.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
struct relu_fn {
  constexpr var operator()(var x) const { return where(less_equal(x, 0), 0, x); }
};
}  // namespace detail

template <handle X>
constexpr auto relu(X const& x) {
  return lift<detail::relu_fn>(x);
}

}  // namespace tx
