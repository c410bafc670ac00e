// normalize(x): rows of length 1 over the last axis, x / sqrt(sum x^2 + 1e-12); [..., C] -> the same. cosine_similarity(a, b): [..., C], [..., C] -> [..., 1].
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/in_f32.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/rsqrt.hpp>
#include <tx/ops/sum.hpp>

namespace tx {

namespace detail {
struct normalize_fn {
  constexpr var operator()(var x) const {
    if (is_storage_only(x.type())) return in_f32(*this, x);
    return x * rsqrt(sum_fn<-1>{}(x * x) + 1e-12);
  }
};
struct cosine_similarity_fn {
  constexpr var operator()(var a, var b) const {
    if (is_storage_only(a.type())) return in_f32(*this, a, b);
    return sum_fn<-1>{}(normalize_fn{}(a) * normalize_fn{}(b));
  }
};
}  // namespace detail

template <handle X>
constexpr auto normalize(X const& x) {
  return lift<detail::normalize_fn>(x);
}
template <handle A, handle B>
constexpr auto cosine_similarity(A const& a, B const& b) {
  return lift<detail::cosine_similarity_fn>(a, b);
}

}  // namespace tx
