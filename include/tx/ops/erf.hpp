// erf(x), the error function. [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct erf {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::erf;
    return erf(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void erf_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info erf_info = elementwise_op<rules::erf, 1>("erf", detail::erf_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&erf_info> {
  using type = rules::erf;
};

template <handle X>
constexpr auto erf(X const& x) {
  return lift_elementwise<&erf_info>(x);
}

}  // namespace tx

#include <tx/ops/exp.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/neg.hpp>

namespace tx::detail {
constexpr void erf_vjp(vjp_context& c) {
  constexpr double two_over_sqrt_pi = 1.1283791670955126;
  auto const x = c.in(0);
  c.accumulate(0, c.gradient * two_over_sqrt_pi * exp(-(x * x)));
}
}  // namespace tx::detail
