// logical_not(a) of a bool tensor. bool [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct logical_not {
  template <class V>
  static TX_HD constexpr auto apply(V a) {
    if constexpr (std::is_floating_point_v<V>)
      return a == 0;  // folded in f64
    else
      return !a;
  }
};
}  // namespace rules

inline constexpr op_info logical_not_info =
    elementwise_op<rules::logical_not, 1>("logical_not", nullptr, false, detail::logical_infer);
template <>
struct scalar_rule<&logical_not_info> {
  using type = rules::logical_not;
};

template <handle A>
constexpr auto logical_not(A const& a) {
  return lift_elementwise<&logical_not_info>(a);
}

}  // namespace tx
