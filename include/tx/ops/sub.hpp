// a - b, with numpy broadcasting. [4, 1], [3] -> [4, 3].
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct sub {
  template <class V>
  static TX_HD constexpr auto apply(V a, V b) {
    return a - b;
  }
};
}  // namespace rules

namespace detail {
constexpr void sub_vjp(vjp_context& c);
constexpr int sub_simplify(simplify_context& c);
}  // namespace detail

inline constexpr op_info sub_info =
    elementwise_op<rules::sub, 2>("sub", detail::sub_vjp, false, detail::number_infer, detail::sub_simplify);
template <>
struct scalar_rule<&sub_info> {
  using type = rules::sub;
};

template <operand A, operand B>
  requires(handle<A> || handle<B>)
constexpr auto operator-(A const& a, B const& b) {
  return lift_elementwise<&sub_info>(a, b);
}

}  // namespace tx

#include <tx/ops/neg.hpp>

namespace tx::detail {
constexpr void sub_vjp(vjp_context& c) {
  c.accumulate(0, c.gradient);
  if (c.needs(1)) c.accumulate(1, -c.gradient);
}

constexpr int sub_simplify(simplify_context& c) {
  if (is_constant(c.g, c.in[1], 0)) return c.in[0];
  return -1;
}
}  // namespace tx::detail
