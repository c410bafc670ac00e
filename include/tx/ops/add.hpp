// a + b, with numpy broadcasting. [4, 1], [3] -> [4, 3].
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct add {
  template <class V>
  static TX_HD constexpr auto apply(V a, V b) {
    return a + b;
  }
};
}  // namespace rules

namespace detail {
constexpr void add_vjp(vjp_context& c);
constexpr int add_simplify(simplify_context& c);
}  // namespace detail

inline constexpr op_info add_info =
    elementwise_op<rules::add, 2>("add", detail::add_vjp, false, detail::number_infer, detail::add_simplify);
template <>
struct scalar_rule<&add_info> {
  using type = rules::add;
};

template <operand A, operand B>
  requires(handle<A> || handle<B>)
constexpr auto operator+(A const& a, B const& b) {
  return lift_elementwise<&add_info>(a, b);
}

}  // namespace tx

namespace tx::detail {
constexpr void add_vjp(vjp_context& c) {
  c.accumulate(0, c.gradient);
  c.accumulate(1, c.gradient);
}

constexpr int add_simplify(simplify_context& c) {
  if (is_constant(c.g, c.in[0], 0)) return c.in[1];
  if (is_constant(c.g, c.in[1], 0)) return c.in[0];
  return -1;
}
}  // namespace tx::detail
