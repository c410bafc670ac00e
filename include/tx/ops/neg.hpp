// -x. [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct neg {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    return -x;
  }
};
}  // namespace rules

namespace detail {
constexpr void neg_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info neg_info = elementwise_op<rules::neg, 1>("neg", detail::neg_vjp, false, detail::number_infer);
template <>
struct scalar_rule<&neg_info> {
  using type = rules::neg;
};

template <handle X>
constexpr auto operator-(X const& x) {
  return lift_elementwise<&neg_info>(x);
}

}  // namespace tx

namespace tx::detail {
constexpr void neg_vjp(vjp_context& c) {
  c.accumulate(0, -c.gradient);
}
}  // namespace tx::detail
