// a / b, with numpy broadcasting. [4, 1], [3] -> [4, 3]. Of integers the quotient is cut towards zero, as in C++, and 0 where b is 0.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct div {
  template <class V>
  static TX_HD constexpr auto apply(V a, V b) {
    using math::divide;
    return divide(a, b);
  }
};
}  // namespace rules

namespace detail {
constexpr void div_vjp(vjp_context& c);
constexpr int div_simplify(simplify_context& c);
}  // namespace detail

inline constexpr op_info div_info =
    elementwise_op<rules::div, 2>("div", detail::div_vjp, false, detail::number_infer, detail::div_simplify);
template <>
struct scalar_rule<&div_info> {
  using type = rules::div;
};

template <operand A, operand B>
  requires(handle<A> || handle<B>)
constexpr auto operator/(A const& a, B const& b) {
  return lift_elementwise<&div_info>(a, b);
}

}  // namespace tx

#include <tx/ops/mul.hpp>
#include <tx/ops/neg.hpp>

namespace tx::detail {
constexpr void div_vjp(vjp_context& c) {
  if (c.needs(0)) c.accumulate(0, c.gradient / c.in(1));
  if (c.needs(1)) c.accumulate(1, -(c.gradient * c.out() / c.in(1)));
}

constexpr int div_simplify(simplify_context& c) {
  if (is_constant(c.g, c.in[1], 1)) return c.in[0];
  return -1;
}
}  // namespace tx::detail
