// maximum(a, b): the larger of each pair; at a tie the gradient goes to both in halves. [4, 1], [3] -> [4, 3].
// The first where either is NaN, as std::max: maximum(x, 0) keeps a NaN in x and maximum(0, x) drops it.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct maximum {
  template <class V>
  static TX_HD constexpr auto apply(V a, V b) {
    using math::max;
    return max(a, b);
  }
};
}  // namespace rules

namespace detail {
constexpr void maximum_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info maximum_info = elementwise_op<rules::maximum, 2>("maximum", detail::maximum_vjp, false, detail::same_infer);
template <>
struct scalar_rule<&maximum_info> {
  using type = rules::maximum;
};

template <operand A, operand B>
  requires(handle<A> || handle<B>)
constexpr auto maximum(A const& a, B const& b) {
  return lift_elementwise<&maximum_info>(a, b);
}

}  // namespace tx

#include <tx/ops/mul.hpp>
#include <tx/ops/where.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/equal.hpp>

namespace tx::detail {
constexpr void maximum_vjp(vjp_context& c) {
  auto const share = where(equal(c.in(0), c.in(1)), c.gradient * 0.5, c.gradient);
  if (c.needs(0)) c.accumulate(0, where(less(c.in(0), c.in(1)), 0.0, share));
  if (c.needs(1)) c.accumulate(1, where(less(c.in(1), c.in(0)), 0.0, share));
}
}  // namespace tx::detail
