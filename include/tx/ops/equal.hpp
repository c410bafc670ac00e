// equal(a, b): a == b, a bool tensor. [4, 1], [3] -> bool [4, 3].
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct equal {
  template <class V>
  static TX_HD constexpr auto apply(V a, V b) {
    return a == b;
  }
};
}  // namespace rules

namespace detail {
}  // namespace detail

inline constexpr op_info equal_info = elementwise_op<rules::equal, 2>("equal", nullptr, false, detail::compare_infer);
template <>
struct scalar_rule<&equal_info> {
  using type = rules::equal;
};

template <operand A, operand B>
  requires(handle<A> || handle<B>)
constexpr auto equal(A const& a, B const& b) {
  return lift_elementwise<&equal_info>(a, b);
}

}  // namespace tx
