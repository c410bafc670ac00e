// hessian_vector<F>(x, v, rest...): H v, where H is the matrix of second derivatives of the scalar F(x, rest...) by its
// first argument, which is never formed: the gradient of the inner product of F's gradient with v (Pearlmutter, Fast
// Exact Multiplication by the Hessian, 1994, in reverse mode twice). v and the result have x's type: a tensor, or a
// model. Errors: those of grad and inner_product.
#pragma once

#include <tx/autodiff/grad.hpp>
#include <tx/autodiff/inner_product.hpp>

namespace tx {

namespace detail {
template <auto F>
struct slope_along {
  template <class X, class V, class... Rest>
  constexpr auto operator()(X const& x, V const& v, Rest const&... rest) const {
    return inner_product(grad<F>(x, rest...), v);
  }
};
}  // namespace detail

template <auto F, class X, class V, class... Rest>
constexpr auto hessian_vector(X const& x, V const& v, Rest const&... rest) {
  return grad<detail::slope_along<F>{}>(x, v, rest...);
}

}  // namespace tx
