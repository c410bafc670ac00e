// layer_norm(x, scale [C], shift [C], epsilon) over the last axis: (x - mean) / sqrt(variance + epsilon) * scale + shift
// (Ba et al., arXiv 1607.06450). [..., C] -> [..., C]
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/rsqrt.hpp>
#include <tx/ops/sub.hpp>

namespace tx {

namespace detail {
// Rows of mean 0 and variance 1.
constexpr var standardized(var x, var epsilon) {
  var const centred = x - exact_mean_fn<-1>{}(x);
  var const variance = mean_fn<-1>{}(centred * centred);
  return centred * rsqrt(variance + epsilon);
}
struct layer_norm_fn {
  constexpr var operator()(var x, var scale, var shift, var epsilon) const {
    if (is_storage_only(x.type())) return in_f32(*this, x, scale, shift, epsilon);
    return standardized(x, epsilon) * scale + shift;
  }
};
}  // namespace detail

template <handle X, handle S, handle B>
constexpr auto layer_norm(X const& x, S const& scale, B const& shift, double epsilon = 1e-5) {
  return lift<detail::layer_norm_fn>(x, scale, shift, epsilon);
}

}  // namespace tx
