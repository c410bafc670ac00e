// stop_gradient(x): x in the forward pass, nothing in the backward pass. [...] -> the same.
#pragma once

#include <tx/ops/reshape.hpp>

namespace tx {

namespace detail {
constexpr value_info stop_gradient_infer(value_info const* in, int, attributes const&) { return in[0]; }
// Once gradients are taken it has done its work.
constexpr int stop_gradient_simplify(simplify_context& c) { return c.in[0]; }
constexpr bool stop_gradient_restride(strided& s, shape const& from, shape const& to, attributes const& at) {
  (void)s, (void)from, (void)to, (void)at;
  return true;
}
}  // namespace detail

// A view that moves nothing; passes after differentiation see through it.
inline constexpr op_info stop_gradient_info{
    .name = "stop_gradient", .kind = op_kind::view, .arity = 1, .infer = detail::stop_gradient_infer, .simplify = detail::stop_gradient_simplify, .restride = detail::stop_gradient_restride, .differentiable = false};

namespace detail {
struct stop_gradient_fn {
  constexpr var operator()(var x) const { return emit(stop_gradient_info, {x}); }
};
}  // namespace detail

template <handle X>
constexpr auto stop_gradient(X const& x) {
  return lift<detail::stop_gradient_fn>(x);
}

}  // namespace tx
