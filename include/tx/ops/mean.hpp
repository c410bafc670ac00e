// mean<axes...>(x): the average over axes, which stay with extent 1; without axes over all, giving a scalar.
// Errors: bool; an axis there is not; a bounded axis; a tensor without elements.
#pragma once

#include <tx/ops/in_f32.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>

namespace tx {

namespace detail {
template <int... Axes>
struct mean_fn {
  constexpr var operator()(var x) const {
    if (is_half(x.type())) return in_f32(*this, x);
    var const total = sum_fn<Axes...>{}(x);
    if (x.dims().tag && !total.dims().tag)
      throw invalid("mean: over a bounded axis the number of elements is known at run time only. FIX: sum and divide by the count");
    if (x.info().count() == 0) throw invalid("mean: there are no elements to average. FIX: an extent above 0");
    return total * (static_cast<double>(total.info().count()) / static_cast<double>(x.info().count()));
  }
};
}  // namespace detail

template <int... Axes, handle X>
constexpr auto mean(X const& x) {
  return lift<detail::mean_fn<Axes...>>(x);
}

}  // namespace tx
