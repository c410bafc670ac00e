// abs(x); the gradient at 0 is 0. [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct abs {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::abs;
    return abs(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void abs_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info abs_info = elementwise_op<rules::abs, 1>("abs", detail::abs_vjp, false, detail::number_infer);
template <>
struct scalar_rule<&abs_info> {
  using type = rules::abs;
};

template <handle X>
constexpr auto abs(X const& x) {
  return lift_elementwise<&abs_info>(x);
}

}  // namespace tx

#include <tx/ops/where.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/neg.hpp>

namespace tx::detail {
constexpr void abs_vjp(vjp_context& c) {
  auto const x = c.in(0);
  c.accumulate(0, where(less(x, 0.0), -c.gradient, where(equal(x, 0.0), 0.0, c.gradient)));
}
}  // namespace tx::detail
