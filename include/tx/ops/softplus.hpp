// softplus(x): log(1 + exp(x)), without overflow, and accurate where it is small. [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct softplus {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::abs;
    using math::exp;
    using math::log1p;
    using math::max;
    return max(x, V(0)) + log1p(exp(-abs(x)));
  }
};
}  // namespace rules

namespace detail {
constexpr void softplus_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info softplus_info =
    elementwise_op<rules::softplus, 1>("softplus", detail::softplus_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&softplus_info> {
  using type = rules::softplus;
};

template <handle X>
constexpr auto softplus(X const& x) {
  return lift_elementwise<&softplus_info>(x);
}

}  // namespace tx

#include <tx/ops/mul.hpp>
#include <tx/ops/sigmoid.hpp>

namespace tx::detail {
constexpr void softplus_vjp(vjp_context& c) { c.accumulate(0, c.gradient * sigmoid(c.in(0))); }
}  // namespace tx::detail
