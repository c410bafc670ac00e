// tanh(x). [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct tanh {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::tanh;
    return tanh(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void tanh_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info tanh_info = elementwise_op<rules::tanh, 1>("tanh", detail::tanh_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&tanh_info> {
  using type = rules::tanh;
};

template <handle X>
constexpr auto tanh(X const& x) {
  return lift_elementwise<&tanh_info>(x);
}

}  // namespace tx

#include <tx/ops/mul.hpp>
#include <tx/ops/sub.hpp>

namespace tx::detail {
constexpr void tanh_vjp(vjp_context& c) {
  auto const y = c.out();
  c.accumulate(0, c.gradient * (1 - y * y));
}
}  // namespace tx::detail
