// min<axes...>(x): the smallest element over axes, which stay with extent 1; without axes over all, giving a scalar. [2, 5, 3] -> [2, 1, 3] for min<1>.
// Ties share the gradient. NaN beside numbers is passed over; infinity where there is nothing else. Of conditions:
// do all hold?
// Errors: an axis there is not, an empty or a bounded one.
#pragma once

#include <tx/ops/max.hpp>

namespace tx {

namespace rules {
struct reduce_min {
  template <class V>
  static TX_HD constexpr V apply(V a, V b) {
    using math::min;
    return min(a, b);
  }
  template <class T>
  static TX_HD constexpr T identity() {
    if constexpr (std::numeric_limits<T>::has_infinity)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
};
}  // namespace rules

// [..., C] -> [..., 1]. Its gradient goes where the element is the result, as row_max's.
inline constexpr op_info row_min_info{.name = "row_min",
                                      .kind = op_kind::row_reduce,
                                      .arity = 1,
                                      .infer = detail::row_extreme_infer,
                                      .vjp = detail::row_max_vjp,
                                      .simplify = detail::sum_simplify,
                                      .combine = detail::combined<rules::reduce_min>,
                                      .nothing = std::numeric_limits<double>::infinity()};
template <>
struct scalar_rule<&row_min_info> {
  using type = rules::reduce_min;
};

template <int... Axes, handle X>
constexpr auto min(X const& x) {
  return lift<detail::extreme_fn<row_min_info, Axes...>>(x);
}

}  // namespace tx
