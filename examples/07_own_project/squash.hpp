// An op that tx does not have: squash(x) = x / (1 + |x|), elementwise, of any shape.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace own {

struct squash_rule {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using tx::math::abs;
    return x / (1 + abs(x));
  }
};
constexpr void squash_vjp(tx::vjp_context& c);

inline constexpr tx::op_info squash_info =
    tx::elementwise_op<squash_rule, 1>("squash", squash_vjp, false, tx::float_infer);

template <tx::handle X>
constexpr auto squash(X const& x) {
  return tx::lift_elementwise<&squash_info>(x);
}

}  // namespace own

template <>
struct tx::scalar_rule<&own::squash_info> {
  using type = own::squash_rule;
};

#include <tx/ops/abs.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/mul.hpp>

namespace own {
// The derivative is 1 / (1 + |x|)^2.
constexpr void squash_vjp(tx::vjp_context& c) {
  auto const d = 1 + tx::abs(c.in(0));
  c.accumulate(0, c.gradient / (d * d));
}
}  // namespace own
