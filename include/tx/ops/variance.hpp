// variance<axes...>(x, correction): sum (x - mean)^2 / (elements - correction) over axes, which stay with extent 1;
// without axes over all, giving a scalar. [2, 5, 3] -> [2, 1, 3] for variance<1>. Correction 1 is the estimate from a sample, 0 the variance of the elements.
// Of a bounded axis over the rows that there are; 0 where they are no more elements than the correction takes off.
// Errors: a fixed number of elements that is no more than that.
#pragma once

#include <tx/ops/div.hpp>
#include <tx/ops/extent_of.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
template <int... Axes>
struct variance_fn {
  constexpr var operator()(var x, var correction) const {
    if (is_storage_only(x.type())) return in_f32(*this, x, correction);
    var const centred = x - exact_mean_fn<Axes...>{}(x);
    var const total = sum_fn<Axes...>{}(centred * centred);
    reduced_count const count(x, total.dims());
    if (count.bounded_ones.valid()) {
      var const left = count.bounded_ones * count.each - cast(correction, x.type());
      return where(less(0.0, left), total / where(less(0.0, left), left, 1.0), 0.0);
    }
    return total * (1.0 / (count.each - correction));
  }
};
}  // namespace detail

template <int... Axes, handle X>
constexpr auto variance(X const& x, double correction = 1) {
  auto const result = lift<detail::variance_fn<Axes...>>(x, correction);
  auto const count = static_cast<double>(var(x).info().count());
  if (count <= correction * static_cast<double>(var(result).info().count()))
    throw invalid("variance: there are no more elements than the correction takes off. FIX: variance<axes...>(x, 0)");
  return result;
}

}  // namespace tx
