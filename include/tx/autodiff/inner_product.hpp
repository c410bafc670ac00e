// inner_product(a, b): the sum of the products of their elements, a scalar: of two tensors of one shape, or of two
// models of one type over all parameters, those of repeated blocks included. inner_product(g, g) is the squared norm of
// a gradient. Errors: tensors of two shapes or element types.
#pragma once

#include <tx/expr/parameter_layout.hpp>
#include <tx/autodiff/independent.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>

namespace tx {

namespace detail {

template <class A>
constexpr vec<var> tensors_in(A const& of) {
  vec<var> all{};
  for_each_leaf(of, [&](auto const& x, bool) { all.push_back(var{x.g, x.id}); });
  return all;
}
// Zero everywhere, as the gradient of what is frozen.
constexpr bool is_nothing(var x) { return is_constant(*x.g, x.id, 0); }

template <class A>
struct element_of {
  using type = element_t<layout<A>::type>;
};
template <typed_handle A>
struct element_of<A> {
  using type = typename A::element_type;
};

}  // namespace detail

template <class A, class B>
constexpr auto inner_product(A const& a, B const& b) {
  static_assert(
      (typed_handle<A> && typed_handle<B>) || std::is_same_v<A, B>,
      "tx::inner_product: it takes two tensors, or two models of one type. FIX: grad<f>(model, ...) beside a model");
  using result = tensor<typename detail::element_of<A>::type>;
  vec<var> const left = detail::tensors_in(a);
  vec<var> const right = detail::tensors_in(b);
  var total{};
  for (int k = 0; k < left.size(); ++k) {
    if (!(left[k].info() == right[k].info()))
      throw invalid("inner_product: shapes or element types differ. FIX: two tensors of one type and shape");
    if (detail::is_nothing(left[k]) || detail::is_nothing(right[k])) continue;
    var const part = sum_all(left[k] * right[k]);
    total = total.valid() ? total + part : part;
  }
  if (!total.valid()) total = constant(*left[0].g, result::info.type, 0);
  return result{total.g, total.id};
}

}  // namespace tx
