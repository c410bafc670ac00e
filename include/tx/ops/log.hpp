// log(x), natural. [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct log {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::log;
    return log(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void log_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info log_info = elementwise_op<rules::log, 1>("log", detail::log_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&log_info> {
  using type = rules::log;
};

template <handle X>
constexpr auto log(X const& x) {
  return lift_elementwise<&log_info>(x);
}

}  // namespace tx

#include <tx/ops/div.hpp>

namespace tx::detail {
constexpr void log_vjp(vjp_context& c) {
  c.accumulate(0, c.gradient / c.in(0));
}
}  // namespace tx::detail
