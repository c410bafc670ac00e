// gelu(x) = x Phi(x), exact; gelu_tanh(x), its tanh approximation (Hendrycks and Gimpel, arXiv 1606.08415). [...] -> the same.
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/erf.hpp>
#include <tx/ops/in_f32.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/tanh.hpp>

namespace tx {

namespace detail {
struct gelu_fn {
  constexpr var operator()(var x) const {
    if (is_storage_only(x.type())) return in_f32(*this, x);
    return x * (erf(x * 0.70710678118654752) + 1.0) * 0.5;
  }
};
struct gelu_tanh_fn {
  constexpr var operator()(var x) const {
    if (is_storage_only(x.type())) return in_f32(*this, x);
    return x * (tanh((x + x * x * x * 0.044715) * 0.79788456080286536) + 1.0) * 0.5;
  }
};
}  // namespace detail

template <handle X>
constexpr auto gelu(X const& x) {
  return lift<detail::gelu_fn>(x);
}
template <handle X>
constexpr auto gelu_tanh(X const& x) {
  return lift<detail::gelu_tanh_fn>(x);
}

}  // namespace tx
