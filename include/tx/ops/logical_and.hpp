// logical_and(a, b) of bool tensors. bool [4, 1], [3] -> bool [4, 3].
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct logical_and {
  template <class V>
  static TX_HD constexpr auto apply(V a, V b) {
    if constexpr (std::is_floating_point_v<V>) return a != 0 && b != 0;  // folded in f64
    else return a && b;
  }
};
}  // namespace rules

namespace detail {
}  // namespace detail

inline constexpr op_info logical_and_info = elementwise_op<rules::logical_and, 2>("logical_and", nullptr, false, detail::logical_infer);
template <>
struct scalar_rule<&logical_and_info> {
  using type = rules::logical_and;
};

template <operand A, operand B>
  requires(handle<A> || handle<B>)
constexpr auto logical_and(A const& a, B const& b) {
  return lift_elementwise<&logical_and_info>(a, b);
}

}  // namespace tx
