// where(condition, a, b): a where the condition holds, b elsewhere, with numpy broadcasting. bool [4, 1], [4, 3], [3] -> [4, 3].
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct where {
  template <class C, class V>
  static TX_HD constexpr V apply(C condition, V a, V b) {
    using math::select;
    return select(condition, a, b);
  }
};
}  // namespace rules

namespace detail {
constexpr value_info where_infer(value_info const* in, int, attributes const& at) {
  if (in[0].type != dtype::boolean) throw invalid("where: the condition is no bool tensor. FIX: compare first, e.g. less(x, 0)");
  if (!(in[0].dims == in[1].dims)) throw invalid("where: shapes differ. FIX: broadcast_to the same extents");
  return same_infer(in + 1, 2, at);
}
constexpr void where_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info where_info = elementwise_op<rules::where, 3>("where", detail::where_vjp, false, detail::where_infer);
template <>
struct scalar_rule<&where_info> {
  using type = rules::where;
};

template <operand C, operand A, operand B>
  requires(handle<C> || handle<A> || handle<B>)
constexpr auto where(C const& condition, A const& a, B const& b) {
  return lift_elementwise<&where_info>(condition, a, b);
}

}  // namespace tx

namespace tx::detail {
constexpr void where_vjp(vjp_context& c) {
  if (c.needs(1)) c.accumulate(1, where(c.in(0), c.gradient, 0.0));
  if (c.needs(2)) c.accumulate(2, where(c.in(0), 0.0, c.gradient));
}
}  // namespace tx::detail
