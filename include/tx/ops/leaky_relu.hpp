// leaky_relu(x, slope): x above 0, else slope x. [...] -> the same. The gradient at 0 is the slope.
#pragma once

#include <tx/ops/less.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
struct leaky_relu_fn {
  constexpr var operator()(var x, var slope) const { return where(less(0, x), x, x * slope); }
};
}  // namespace detail

template <handle X>
constexpr auto leaky_relu(X const& x, double slope = 0.01) {
  return lift<detail::leaky_relu_fn>(x, slope);
}

}  // namespace tx
