// rsqrt(x): 1 / sqrt(x). [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct rsqrt {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::rsqrt;
    return rsqrt(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void rsqrt_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info rsqrt_info = elementwise_op<rules::rsqrt, 1>("rsqrt", detail::rsqrt_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&rsqrt_info> {
  using type = rules::rsqrt;
};

template <handle X>
constexpr auto rsqrt(X const& x) {
  return lift_elementwise<&rsqrt_info>(x);
}

}  // namespace tx

#include <tx/ops/mul.hpp>

namespace tx::detail {
constexpr void rsqrt_vjp(vjp_context& c) {
  auto const r = c.out();
  c.accumulate(0, c.gradient * -0.5 * r * r * r);
}
}  // namespace tx::detail
