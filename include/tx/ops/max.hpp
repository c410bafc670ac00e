// max<axes...>(x): the largest element over axes, which stay with extent 1. [2, 5, 3] -> [2, 1, 3] for max<1>. Ties share the gradient.
// NaN beside numbers is passed over; -infinity where there is nothing else. Of conditions: does any hold?
// Errors: an axis there is not, or an empty one. Of a bounded one that has no elements in a run it is as of nothing but -infinity.
#pragma once

#include <tx/core/math.hpp>
#include <tx/ops/sum.hpp>

#include <limits>

namespace tx {

namespace rules {
struct reduce_max {
  template <class V>
  static TX_HD constexpr V apply(V a, V b) {
    using math::max;
    return max(a, b);
  }
  template <class T>
  static TX_HD constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
};
}  // namespace rules

namespace detail {
constexpr value_info row_extreme_infer(value_info const* in, int count, attributes const& at) {
  if (in[0].dims.rank > 0 && in[0].dims.last() == 0)
    throw invalid("max, min: the axis is empty and has no largest element. FIX: give it elements");
  return row_reduce_infer(in, count, at);
}
constexpr void row_max_vjp(vjp_context& c);
}  // namespace detail

// [..., C] -> [..., 1]
inline constexpr op_info row_max_info{.name = "row_max",
                                      .kind = op_kind::row_reduce,
                                      .arity = 1,
                                      .infer = detail::row_extreme_infer,
                                      .vjp = detail::row_max_vjp,
                                      .simplify = detail::sum_simplify,
                                      .combine = detail::combined<rules::reduce_max>,
                                      .nothing = -std::numeric_limits<double>::infinity()};
template <>
struct scalar_rule<&row_max_info> {
  using type = rules::reduce_max;
};

namespace detail {
// Extreme: row_max_info, or row_min_info of ops/min.hpp.
template <op_info const& Extreme, int... Axes>
struct extreme_fn {
  constexpr var operator()(var x) const {
    if constexpr (sizeof...(Axes) == 0) {
      return reshape(emit(Extreme, {reshape(x, extents(1, bounded(static_cast<int>(x.info().count()), x.dims().count_factors())))}), shape{});
    } else {
      int const axes[] = {Axes...};
      return reduce_axes(x, axes, sizeof...(Axes), Extreme, nullptr);
    }
  }
};
template <int... Axes>
using max_fn = extreme_fn<row_max_info, Axes...>;
}  // namespace detail

template <int... Axes, handle X>
constexpr auto max(X const& x) {
  return lift<detail::max_fn<Axes...>>(x);
}

}  // namespace tx

#include <tx/ops/div.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/where.hpp>

namespace tx::detail {
constexpr void row_max_vjp(vjp_context& c) {
  var const hit = equal(c.in(0), c.out());
  var const ones = where(hit, constant(*c.g, c.in_info(0).type, 1), constant(*c.g, c.in_info(0).type, 0));
  var const ties = emit(row_sum_info, {ones});
  c.accumulate(0, ones * (c.gradient / ties));
}
}  // namespace tx::detail
