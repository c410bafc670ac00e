// all_reduce(x): the sum of x over all ranks, on all of them; all_reduce<across::batches>(x): over those that have different batches (core/rank_grid.hpp). The gradient is the
// sum of the ranks' gradients.
// f32 and f64, and halves, which are added in f32 and rounded once. Errors: ranks that bring different shapes get a rank_error.
#pragma once

#include <tx/dist/across.hpp>
#include <tx/ops/partitioned.hpp>
#include <tx/plan/signature.hpp>

#include <span>

namespace tx {

namespace detail {
constexpr value_info all_reduce_infer(value_info const* in, int, attributes const&) {
  if (!is_float(in[0].type)) throw invalid("all_reduce: sums are of floating-point numbers. FIX: cast<tx::f32>(x)");
  return in[0];
}
// Right where each rank has a loss of its own and trains for the sum of all: what a rank's x adds to each of them.
constexpr void all_reduce_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info all_reduce_info{.name = "all_reduce",
                                         .kind = op_kind::collective,
                                         .arity = 1,
                                         .infer = detail::all_reduce_infer,
                                         .vjp = detail::all_reduce_vjp,
                                         .over_first = true,
                                         .each_element = true};

namespace rules {
struct all_reduce {
  template <class Communicator, class T>
  static void run(Communicator& ranks, attributes const&, whole_operand<T> out, whole_operand<T const> in) {
    auto const count = static_cast<std::size_t>(out.dims.count());
    ranks.all_reduce(std::span<T const>(in.data, count), std::span<T>(out.data, count));
  }
};
}  // namespace rules
template <>
struct exec::collective_rule<&all_reduce_info> {
  using type = rules::all_reduce;
};

constexpr var all_reduce(var x, across which) { return emit(all_reduce_info, {x}, detail::with_across({}, which)); }

namespace detail {
template <across Which>
struct all_reduce_fn {
  constexpr var operator()(var x) const { return all_reduce(x, Which); }
};
constexpr void all_reduce_vjp(vjp_context& c) { c.accumulate(0, all_reduce(c.gradient, across_of(c.at()))); }
}  // namespace detail

template <across Which = across::all, handle X>
constexpr auto all_reduce(X const& x) {
  return lift<detail::all_reduce_fn<Which>>(x);
}

}  // namespace tx
