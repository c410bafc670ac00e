// sin(x), x in radians; NaN at +-infinity. f32: within 1 ulp at any magnitude, see backends/cpu/vector_math.hpp. [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct sin {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::sin;
    return sin(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void sin_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info sin_info = elementwise_op<rules::sin, 1>("sin", detail::sin_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&sin_info> {
  using type = rules::sin;
};

template <handle X>
constexpr auto sin(X const& x) {
  return lift_elementwise<&sin_info>(x);
}

}  // namespace tx

#include <tx/ops/cos.hpp>
#include <tx/ops/mul.hpp>

namespace tx::detail {
constexpr void sin_vjp(vjp_context& c) { c.accumulate(0, c.gradient * cos(c.in(0))); }
}  // namespace tx::detail
