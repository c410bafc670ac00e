// rms_norm(x, scale [C], epsilon) over the last axis: x / sqrt(mean x^2 + epsilon) * scale (Zhang and Sennrich, arXiv
// 1910.07467).
// [..., C] -> [..., C]
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/rsqrt.hpp>

namespace tx {

namespace detail {
struct rms_norm_fn {
  constexpr var operator()(var x, var scale, var epsilon) const {
    if (is_storage_only(x.type())) return in_f32(*this, x, scale, epsilon);
    return x * rsqrt(mean_fn<-1>{}(x * x) + epsilon) * scale;
  }
};
}  // namespace detail

template <handle X, handle S>
constexpr auto rms_norm(X const& x, S const& scale, double epsilon = 1e-6) {
  return lift<detail::rms_norm_fn>(x, scale, epsilon);
}

}  // namespace tx
