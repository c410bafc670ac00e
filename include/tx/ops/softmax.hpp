// softmax(x) and log_softmax(x) over the last axis: [..., C] -> [..., C]. The row's largest element is subtracted first.
#pragma once

#include <tx/ops/div.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/stop_gradient.hpp>
#include <tx/ops/sub.hpp>

namespace tx {

namespace detail {
constexpr var minus_max(var x) { return x - stop_gradient(max_fn<-1>{}(x)); }

struct softmax_fn {
  constexpr var operator()(var x) const {
    var const e = exp(minus_max(x));
    return e / sum_fn<-1>{}(e);
  }
};
struct log_softmax_fn {
  constexpr var operator()(var x) const {
    var const shifted = minus_max(x);
    return shifted - log(sum_fn<-1>{}(exp(shifted)));
  }
};
}  // namespace detail

template <handle X>
constexpr auto softmax(X const& x) {
  return lift<detail::softmax_fn>(x);
}
template <handle X>
constexpr auto log_softmax(X const& x) {
  return lift<detail::log_softmax_fn>(x);
}

}  // namespace tx
