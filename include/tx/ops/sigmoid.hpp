// sigmoid(x): 1 / (1 + exp(-x)). [...] -> the same.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct sigmoid {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::sigmoid;
    return sigmoid(x);
  }
};
}  // namespace rules

namespace detail {
constexpr void sigmoid_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info sigmoid_info = elementwise_op<rules::sigmoid, 1>("sigmoid", detail::sigmoid_vjp, true, detail::float_infer);
template <>
struct scalar_rule<&sigmoid_info> {
  using type = rules::sigmoid;
};

template <handle X>
constexpr auto sigmoid(X const& x) {
  return lift_elementwise<&sigmoid_info>(x);
}

}  // namespace tx

#include <tx/ops/mul.hpp>
#include <tx/ops/sub.hpp>

namespace tx::detail {
constexpr void sigmoid_vjp(vjp_context& c) {
  auto const y = c.out();
  c.accumulate(0, c.gradient * y * (1 - y));
}
}  // namespace tx::detail
