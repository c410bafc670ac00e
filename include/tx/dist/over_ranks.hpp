// summed_gradient(x), sum_over_ranks(x): what stands before and behind a computation that ranks divide among them, all of which have the same loss (Shoeybi et al., arXiv 1909.08053).
//
//   summed_gradient(x)   x, which all ranks have; its gradient is the sum of what each rank's part of the computation makes of it
//   sum_over_ranks(x)    the sum of what each rank's part gives; its gradient goes to each of them as it is
//
// Of all ranks, or sum_over_ranks<across::products>(x) of those that divide the products of one batch (core/rank_grid.hpp).
// [...] -> the same. f32 and f64, and halves, which are added in f32 and rounded once. Errors: ranks that bring different shapes get a rank_error.
#pragma once

#include <tx/dist/all_reduce.hpp>

namespace tx {

namespace detail {
constexpr void sum_over_ranks_vjp(vjp_context& c);
constexpr void summed_gradient_vjp(vjp_context& c);
constexpr value_info summed_gradient_infer(value_info const* in, int, attributes const&) { return in[0]; }
constexpr int summed_gradient_simplify(simplify_context& c) { return c.in[0]; }
constexpr bool summed_gradient_restride(strided&, shape const&, shape const&, attributes const&) { return true; }
}  // namespace detail

inline constexpr op_info sum_over_ranks_info{
    .name = "sum_over_ranks", .kind = op_kind::collective, .arity = 1, .infer = detail::all_reduce_infer, .vjp = detail::sum_over_ranks_vjp, .over_first = true, .each_element = true};
// A view that moves nothing; passes after differentiation see through it.
inline constexpr op_info summed_gradient_info{.name = "summed_gradient",
                                              .kind = op_kind::view,
                                              .arity = 1,
                                              .infer = detail::summed_gradient_infer,
                                              .vjp = detail::summed_gradient_vjp,
                                              .simplify = detail::summed_gradient_simplify,
                                              .restride = detail::summed_gradient_restride};
template <>
struct exec::collective_rule<&sum_over_ranks_info> {
  using type = rules::all_reduce;
};

constexpr var sum_over_ranks(var x, across which) { return emit(sum_over_ranks_info, {x}, detail::with_across({}, which)); }
constexpr var summed_gradient(var x, across which) { return emit(summed_gradient_info, {x}, detail::with_across({}, which)); }

namespace detail {
template <across Which>
struct sum_over_ranks_fn {
  constexpr var operator()(var x) const { return sum_over_ranks(x, Which); }
};
template <across Which>
struct summed_gradient_fn {
  constexpr var operator()(var x) const { return summed_gradient(x, Which); }
};
constexpr void sum_over_ranks_vjp(vjp_context& c) { c.accumulate(0, summed_gradient(c.gradient, across_of(c.at()))); }  // again, where it is differentiated again
constexpr void summed_gradient_vjp(vjp_context& c) { c.accumulate(0, sum_over_ranks(c.gradient, across_of(c.at()))); }
}  // namespace detail

template <across Which = across::all, handle X>
constexpr auto sum_over_ranks(X const& x) {
  return lift<detail::sum_over_ranks_fn<Which>>(x);
}
template <across Which = across::all, handle X>
constexpr auto summed_gradient(X const& x) {
  return lift<detail::summed_gradient_fn<Which>>(x);
}

}  // namespace tx
