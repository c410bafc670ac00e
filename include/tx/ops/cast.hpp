// cast<T>(x): elements converted to T; the gradient passes between floating-point types. [...] -> [...] of T. To bool: is it other than 0?
// Integers lose the bits that T has no room for. Float to integer drops the fraction; i8, i16 and u8 keep the low bits
// of what i32 holds. Of what i32 (for i64: i64) does not hold, as NaN and infinities, is made some integer, which
// backends need not agree on: instructions differ, and a check of each element would cost what the conversion does.
// f64, i32 and i64 become halves by way of f32, and are rounded twice: 65519.999999 is 65520 in f32, which f16 has no room for.
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
// Values change type as they enter and leave registers; the rule itself has nothing to do.
struct cast {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    return x;
  }
};
}  // namespace rules

// The attribute of a cast: the type of its result.
constexpr attributes of_cast(dtype to) { return {{static_cast<std::int64_t>(to)}}; }
constexpr dtype cast_type(attributes const& at) { return static_cast<dtype>(at.v[0]); }

namespace detail {
constexpr value_info cast_infer(value_info const* in, int, attributes const& at) { return {cast_type(at), in[0].dims}; }
constexpr void cast_vjp(vjp_context& c);
constexpr int cast_simplify(simplify_context& c);
}  // namespace detail

inline constexpr op_info cast_info{.name = "cast",
                                   .kind = op_kind::elementwise,
                                   .arity = 1,
                                   .infer = detail::cast_infer,
                                   .vjp = detail::cast_vjp,
                                   .simplify = detail::cast_simplify};
template <>
struct scalar_rule<&cast_info> {
  using type = rules::cast;
};

constexpr var cast(var x, dtype to) { return x.type() == to ? x : emit(cast_info, {x}, of_cast(to)); }

namespace detail {
template <dtype To>
struct cast_fn {
  constexpr var operator()(var x) const { return cast(x, To); }
};
constexpr void cast_vjp(vjp_context& c) {
  if (is_float(c.self().info.type) && is_float(c.in_info(0).type)) c.accumulate(0, cast(c.gradient, sum_type(c.in_info(0).type)));
}
// To the type it has; and back to the half it was widened from.
constexpr int cast_simplify(simplify_context& c) {
  if (c.info.type == c.input(0).type()) return c.in[0];
  node const& before = c.g[c.in[0]];
  if (before.op != &cast_info) return -1;
  int const origin = c.g.input(c.in[0], 0);
  return is_half(c.info.type) && c.g.info(origin).type == c.info.type && sum_type(c.info.type) == before.info.type ? origin : -1;
}
}  // namespace detail

template <class T, handle X>
constexpr auto cast(X const& x) {
  return lift<detail::cast_fn<dtype_v<T>>>(x);
}

}  // namespace tx
