// a * b, with numpy broadcasting. [4, 1], [3] -> [4, 3].
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct mul {
  template <class V>
  static TX_HD constexpr auto apply(V a, V b) {
    return a * b;
  }
};
}  // namespace rules

namespace detail {
constexpr void mul_vjp(vjp_context& c);
constexpr int mul_simplify(simplify_context& c);
}  // namespace detail

inline constexpr op_info mul_info =
    elementwise_op<rules::mul, 2>("mul", detail::mul_vjp, false, detail::number_infer, detail::mul_simplify);
template <>
struct scalar_rule<&mul_info> {
  using type = rules::mul;
};

template <operand A, operand B>
  requires(handle<A> || handle<B>)
constexpr auto operator*(A const& a, B const& b) {
  return lift_elementwise<&mul_info>(a, b);
}

}  // namespace tx

namespace tx::detail {
constexpr void mul_vjp(vjp_context& c) {
  if (c.needs(0)) c.accumulate(0, c.gradient * c.in(1));
  if (c.needs(1)) c.accumulate(1, c.gradient * c.in(0));
}

constexpr int mul_simplify(simplify_context& c) {
  if (is_constant(c.g, c.in[0], 1)) return c.in[1];
  if (is_constant(c.g, c.in[1], 1)) return c.in[0];
  return -1;
}
}  // namespace tx::detail
