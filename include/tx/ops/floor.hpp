// floor(x): the largest integer that is not above x; ceil(x): the smallest that is not below. [...] -> the same. Neither has a slope:
// gradients stop here, as at stop_gradient.
#pragma once

#include <tx/ops/neg.hpp>

namespace tx {

namespace rules {
struct floor {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::floor;
    return floor(x);
  }
};
}  // namespace rules

inline constexpr op_info floor_info =
    flat(elementwise_op<rules::floor, 1>("floor", nullptr, false, detail::float_infer));
template <>
struct scalar_rule<&floor_info> {
  using type = rules::floor;
};

template <handle X>
constexpr auto floor(X const& x) {
  return lift_elementwise<&floor_info>(x);
}
template <handle X>
constexpr auto ceil(X const& x) {
  return -floor(-x);
}

}  // namespace tx
