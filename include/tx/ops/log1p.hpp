// log1p(x): log(1 + x), accurate near 0. [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct log1p {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::log1p;
    return log1p(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void log1p_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info log1p_info = elementwise_op<rules::log1p, 1>("log1p", detail::log1p_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&log1p_info> {
  using type = rules::log1p;
};

template <handle X>
constexpr auto log1p(X const& x) {
  return lift_elementwise<&log1p_info>(x);
}

}  // namespace tx

#include <tx/ops/add.hpp>
#include <tx/ops/div.hpp>

namespace tx::detail {
constexpr void log1p_vjp(vjp_context& c) {
  c.accumulate(0, c.gradient / (c.in(0) + 1));
}
}  // namespace tx::detail
