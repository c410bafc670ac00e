// mean<axes...>(x): the average over axes, which stay with extent 1; without axes over all, giving a scalar. [2, 5, 3] -> [2, 1, 3] for mean<1>.
// Of a bounded axis over the rows that there are; of none of them it is 0. Errors: bool; an axis there is not; a tensor without elements.
#pragma once

#include <tx/ops/div.hpp>
#include <tx/ops/extent_of.hpp>
#include <tx/ops/in_f32.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/stop_gradient.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>

namespace tx {

namespace detail {
template <int... Axes>
struct mean_fn {
  constexpr var operator()(var x) const {
    if (is_storage_only(x.type())) return in_f32(*this, x);
    var const total = sum_fn<Axes...>{}(x);
    if (x.info().count() == 0) throw invalid("mean: there are no elements to average. FIX: an extent above 0");
    reduced_count const count(x, total.dims());
    var const of_fixed = total * (1.0 / count.each);
    return count.bounded_ones.valid() ? of_fixed / maximum(count.bounded_ones, 1.0) : of_fixed;
  }
};
// The same, to the last bit where all elements are equal: what rounding has left of the mean is added. So constant rows are exactly 0 once it is taken
// off, and no norm takes rounding for their variance.
template <int... Axes>
struct exact_mean_fn {
  constexpr var operator()(var x) const {
    var const about = mean_fn<Axes...>{}(x);
    return about + stop_gradient_fn{}(mean_fn<Axes...>{}(x - about));
  }
};
}  // namespace detail

template <int... Axes, handle X>
constexpr auto mean(X const& x) {
  return lift<detail::mean_fn<Axes...>>(x);
}

}  // namespace tx
