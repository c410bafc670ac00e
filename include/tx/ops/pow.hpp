// pow(x, y): x to the power y, tensors or numbers, with numpy broadcasting; special values are std::pow's. [4, 1], [3] -> [4, 3].
// Gradients at x = 0 are their limits: to x that of pow(x, 0) is 0 and that of pow(x, 1) is 1, to y it is 0 where y >= 0.
// Where x is below 0 the gradient to y is NaN, as log(x) is. Second derivatives are right where they are finite; at
// x = 0 some others (to x and y, y being 0 or 1) are finite though their limits are not.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct pow {
  template <class V>
  static TX_HD constexpr V apply(V x, V y) {
    using math::pow;
    return pow(x, y);
  }
};
}  // namespace rules

namespace detail {
constexpr void pow_vjp(vjp_context& c);
constexpr int pow_simplify(simplify_context& c);
}  // namespace detail

inline constexpr op_info pow_info =
    elementwise_op<rules::pow, 2>("pow", detail::pow_vjp, true, detail::float_infer, detail::pow_simplify);
template <>
struct scalar_rule<&pow_info> {
  using type = rules::pow;
};

template <operand X, operand Y>
requires(handle<X> || handle<Y>) constexpr auto pow(X const& x, Y const& y) {
  return lift_elementwise<&pow_info>(x, y);
}

}  // namespace tx

#include <tx/ops/div.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/where.hpp>

namespace tx::detail {
// y x^(y - 1), as y / x where y is 0: at x = 0 that is no product of 0 and infinity. What a `where` does not take is
// finite, or the slope of this would be NaN: 0 times infinity again.
constexpr var pow_slope(var x, var y) {
  var const none = equal(y, 0.0);
  var const some = where(none, 1.0, y);
  return where(none, y / where(equal(x, 0.0), 1.0, x), pow(x, some - 1.0) * some);
}
constexpr void pow_vjp(vjp_context& c) {
  var const x = c.in(0);
  var const y = c.in(1);
  double exponent = 0;
  bool const known = is_constant(*c.g, y.id, exponent);
  if (c.needs(0)) {
    if (known && exponent == 0)
      c.accumulate(0, broadcast_to(constant(*c.g, c.self().info.type, 0), c.self().info.dims));
    else if (known)
      c.accumulate(0, c.gradient * (pow(x, exponent - 1) * exponent));
    else
      c.accumulate(0, c.gradient * pow_slope(x, y));
  }
  if (c.needs(1)) {
    var const flat_here = logical_and(equal(x, 0.0), less_equal(0.0, y));
    c.accumulate(1, c.gradient * (c.out() * log(where(flat_here, 1.0, x))));
  }
}

// Exponents that cost no more than a product or two.
constexpr int pow_simplify(simplify_context& c) {
  var const x = c.input(0);
  double exponent = 0;
  if (!is_constant(c.g, c.in[1], exponent)) return -1;
  if (exponent == 0) return broadcast_to(constant(c.g, c.info.type, 1), c.info.dims).id;
  if (exponent == 1) return x.id;
  if (exponent == 2) return (x * x).id;
  if (exponent == 3 && !is_storage_only(x.type())) return (x * x * x).id;
  if (exponent == -1) return (1.0 / x).id;
  return -1;
}
}  // namespace tx::detail
