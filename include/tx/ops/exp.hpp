// exp(x). [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct exp {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::exp;
    return exp(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void exp_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info exp_info = elementwise_op<rules::exp, 1>("exp", detail::exp_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&exp_info> {
  using type = rules::exp;
};

template <handle X>
constexpr auto exp(X const& x) {
  return lift_elementwise<&exp_info>(x);
}

}  // namespace tx

#include <tx/ops/mul.hpp>

namespace tx::detail {
constexpr void exp_vjp(vjp_context& c) {
  c.accumulate(0, c.gradient * c.out());
}
}  // namespace tx::detail
