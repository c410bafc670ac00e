// expm1(x): exp(x) - 1, accurate near 0. [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct expm1 {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::expm1;
    return expm1(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void expm1_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info expm1_info = elementwise_op<rules::expm1, 1>("expm1", detail::expm1_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&expm1_info> {
  using type = rules::expm1;
};

template <handle X>
constexpr auto expm1(X const& x) {
  return lift_elementwise<&expm1_info>(x);
}

}  // namespace tx

#include <tx/ops/exp.hpp>
#include <tx/ops/mul.hpp>

namespace tx::detail {
constexpr void expm1_vjp(vjp_context& c) {
  c.accumulate(0, c.gradient * exp(c.in(0)));
}
}  // namespace tx::detail
