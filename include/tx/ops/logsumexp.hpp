// logsumexp<axes...>(x): log of the sum of exp(x) over axes, which stay with extent 1; without axes over all, giving a scalar. [2, 5, 3] -> [2, 1, 3] for
// logsumexp<1>. The largest element is taken off first, so nothing overflows. -infinity where all elements are, with gradients of 0.
#pragma once

#include <tx/ops/abs.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/in_f32.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/stop_gradient.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
template <int... Axes>
struct logsumexp_fn {
  constexpr var operator()(var x) const {
    if (is_storage_only(x.type())) return in_f32(*this, x);
    constexpr double infinity = math::constant::infinity;
    var const most = stop_gradient(max_fn<Axes...>{}(x));
    var const peak = where(equal(abs(most), infinity), 0.0, most);  // infinity less infinity would be NaN
    var const total = sum_fn<Axes...>{}(exp(x - peak));
    var const nothing = equal(total, 0.0);
    return where(nothing, -infinity, log(where(nothing, 1.0, total)) + peak);
  }
};
}  // namespace detail

template <int... Axes, handle X>
constexpr auto logsumexp(X const& x) {
  return lift<detail::logsumexp_fn<Axes...>>(x);
}

}  // namespace tx
