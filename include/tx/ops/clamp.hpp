// clamp(x, low, high): x, or the bound it is beyond; tensors or numbers, with numpy broadcasting. [4, 3], [4, 1], [3] -> [4, 3]. `high` where low >
// high. NaN stays. The gradient goes to x from bound to bound, these included, else to the bound.
#pragma once

#include <tx/ops/less.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
struct clamp_fn {
  constexpr var operator()(var x, var low, var high) const {
    var const raised = where(less(x, low), low, x);
    return where(less(high, raised), high, raised);
  }
};
}  // namespace detail

template <handle X, operand L, operand H>
constexpr auto clamp(X const& x, L const& low, H const& high) {
  return lift<detail::clamp_fn>(x, low, high);
}

}  // namespace tx
