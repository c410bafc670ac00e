// sqrt(x). [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct sqrt {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::sqrt;
    return sqrt(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void sqrt_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info sqrt_info = elementwise_op<rules::sqrt, 1>("sqrt", detail::sqrt_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&sqrt_info> {
  using type = rules::sqrt;
};

template <handle X>
constexpr auto sqrt(X const& x) {
  return lift_elementwise<&sqrt_info>(x);
}

}  // namespace tx

#include <tx/ops/div.hpp>
#include <tx/ops/mul.hpp>

namespace tx::detail {
constexpr void sqrt_vjp(vjp_context& c) {
  c.accumulate(0, c.gradient * 0.5 / c.out());
}
}  // namespace tx::detail
