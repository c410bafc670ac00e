// minimum(a, b): the smaller of each pair; at a tie the gradient goes to both in halves. [4, 1], [3] -> [4, 3].
// The first where either is NaN, as std::min: minimum(x, 0) keeps a NaN in x and minimum(0, x) drops it.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct minimum {
  template <class V>
  static TX_HD constexpr auto apply(V a, V b) {
    using math::min;
    return min(a, b);
  }
};
}  // namespace rules

namespace detail {
constexpr void minimum_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info minimum_info = elementwise_op<rules::minimum, 2>("minimum", detail::minimum_vjp, false, detail::same_infer);
template <>
struct scalar_rule<&minimum_info> {
  using type = rules::minimum;
};

template <operand A, operand B>
  requires(handle<A> || handle<B>)
constexpr auto minimum(A const& a, B const& b) {
  return lift_elementwise<&minimum_info>(a, b);
}

}  // namespace tx

#include <tx/ops/mul.hpp>
#include <tx/ops/where.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/equal.hpp>

namespace tx::detail {
constexpr void minimum_vjp(vjp_context& c) {
  auto const share = where(equal(c.in(0), c.in(1)), c.gradient * 0.5, c.gradient);
  if (c.needs(0)) c.accumulate(0, where(less(c.in(1), c.in(0)), 0.0, share));
  if (c.needs(1)) c.accumulate(1, where(less(c.in(0), c.in(1)), 0.0, share));
}
}  // namespace tx::detail
