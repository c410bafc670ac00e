// cos(x), x in radians; NaN at +-infinity. f32: within 1 ulp at any magnitude, see backends/cpu/vector_math.hpp. [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct cos {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::cos;
    return cos(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void cos_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info cos_info = elementwise_op<rules::cos, 1>("cos", detail::cos_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&cos_info> {
  using type = rules::cos;
};

template <handle X>
constexpr auto cos(X const& x) {
  return lift_elementwise<&cos_info>(x);
}

}  // namespace tx

#include <tx/ops/mul.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/sin.hpp>

namespace tx::detail {
constexpr void cos_vjp(vjp_context& c) { c.accumulate(0, -(c.gradient * sin(c.in(0)))); }
}  // namespace tx::detail
