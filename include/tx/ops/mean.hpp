// mean<axes...>(x): the average over axes, which stay with extent 1; without axes over all, giving a scalar.
// Of a bounded axis over the rows that there are; of none of them it is 0. Errors: bool; an axis there is not; a tensor without elements.
#pragma once

#include <tx/ops/broadcast.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/in_f32.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>

namespace tx {

namespace detail {
template <int... Axes>
struct mean_fn {
  constexpr var operator()(var x) const {
    if (is_half(x.type())) return in_f32(*this, x);
    var const total = sum_fn<Axes...>{}(x);
    if (x.info().count() == 0) throw invalid("mean: there are no elements to average. FIX: an extent above 0");
    double const share = static_cast<double>(total.info().count()) / static_cast<double>(x.info().count());
    if (x.dims().tag && !total.dims().tag) return total * (share * x.dims().dim[0]) / maximum(rows_of(x), 1.0);
    return total * share;
  }

 private:
  // How many rows of a bounded axis there are: a number that is known when the program runs.
  static constexpr var rows_of(var x) {
    shape rows{};
    rows.dim[rows.rank++] = x.dims().dim[0];
    rows.tag = x.dims().tag;
    return reshape(sum_fn<>{}(broadcast_to(constant(*x.g, x.type(), 1.0), rows)), shape{});
  }
};
}  // namespace detail

template <int... Axes, handle X>
constexpr auto mean(X const& x) {
  return lift<detail::mean_fn<Axes...>>(x);
}

}  // namespace tx
