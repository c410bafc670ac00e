// softmax(x) and log_softmax(x) over the last axis, softmax<Axis>(x) and log_softmax<Axis>(x) over another. [...] -> the same. The
// largest element is subtracted first; NaN where all are -infinity.
#pragma once

#include <tx/ops/div.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/in_f32.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/stop_gradient.hpp>
#include <tx/ops/sub.hpp>

namespace tx {

namespace detail {
template <int Axis>
constexpr var minus_max(var x) {
  return x - stop_gradient(max_fn<Axis>{}(x));
}

template <int Axis>
struct softmax_fn {
  constexpr var operator()(var x) const {
    if (is_storage_only(x.type())) return in_f32(*this, x);
    var const e = exp(minus_max<Axis>(x));
    return e / sum_fn<Axis>{}(e);
  }
};
template <int Axis>
struct log_softmax_fn {
  constexpr var operator()(var x) const {
    if (is_storage_only(x.type())) return in_f32(*this, x);
    var const shifted = minus_max<Axis>(x);
    return shifted - log(sum_fn<Axis>{}(exp(shifted)));
  }
};
}  // namespace detail

template <int Axis = -1, handle X>
constexpr auto softmax(X const& x) {
  return lift<detail::softmax_fn<Axis>>(x);
}
template <int Axis = -1, handle X>
constexpr auto log_softmax(X const& x) {
  return lift<detail::log_softmax_fn<Axis>>(x);
}

}  // namespace tx
