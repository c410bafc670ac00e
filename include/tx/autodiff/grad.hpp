// grad<F>(x...): the gradient of what F(x...) returns, a floating-point scalar or an aggregate whose first member is
// one, with regard to its first argument: x -> a tensor of x's type and shape, model -> a model of gradients (zero for
// what is frozen; by itself a frozen parameter is a tensor like any other). grad<F, 1>: to argument 1; grad<F, 0, 2>: a
// tuple. with_grad<F>(x...) hands out F's own result too, as `value` beside `gradient`.
//
// It is recorded as any function of tensors is, so that a loss may depend on it and gradients be taken of it again:
//
//   constexpr auto total = [](auto const& x, net const& m) { return tx::sum(m(x)); };
//   constexpr auto loss = [](net const& m, rows x) {  // a gradient penalty; a step differentiates it by the parameters
//     auto const slope = tx::grad<total>(x, m);       // [batch, width], as x
//     return tx::sum(m(x)) + tx::mean(slope * slope);
//   };
//   tx::grad<tx::grad<f>>                             // the second derivative of a function of one number
//
// Other arguments are constants, also where they were computed from x (reverse mode: Griewank and Walther, Evaluating
// Derivatives, 2nd ed., 2008, 3.2; why arguments are nodes of their own: Siskind and Pearlmutter, Perturbation
// Confusion, 2005). What F(x...) and its gradient share is computed once. A parameter of repeated blocks has one
// gradient, stacked over all of them: inner_product.hpp has what can be done with those.
//
// Errors, while compiling: no scalar, an integer argument, a model without trained parameters; a gradient of a gradient
// through an op that has none, such as prod; by the parameters of a repeat that peels.
#pragma once

#include <tx/autodiff/independent.hpp>
#include <tx/autodiff/reverse.hpp>
#include <tx/expr/called_like.hpp>

namespace tx {

template <class Value, class Gradient>
struct value_with_gradient {
  Value value;        // what F returns
  Gradient gradient;  // of it, or of its first member
};

namespace detail {

// What a function's result begins with.
template <class R>
constexpr var first_tensor(R const& result) {
  var first{};
  for_each_tensor(result, [&](auto const& r) {
    if (!first.valid()) first = r;
  });
  return first;
}

template <class R>
constexpr value_info first_info() {
  if constexpr (typed_handle<R>)
    return R::info;
  else if constexpr (is_tuple<R>)
    return first_info<std::tuple_element_t<0, R>>();
  else
    return first_info<std::remove_cvref_t<std::tuple_element_t<0, decltype(members(std::declval<R&>()))>>>();
}

template <class A>
constexpr void check_differentiable() {
  static_assert(typed_handle<A> || std::is_aggregate_v<A>,
                "tx::grad: it differentiates by tensors and models. FIX: a number is tensor<T>, without extents");
  if constexpr (typed_handle<A>)
    static_assert(is_float(A::info.type),
                  "tx::grad: integers have no gradient. FIX: name the argument to differentiate by, tx::grad<f, 1>");
}

template <auto F, int... At>
struct differentiation {
  template <class... A>
  static constexpr auto call(A const&... a) {
    static_assert(((At >= 0 && At < static_cast<int>(sizeof...(A))) && ...),
                  "tx::grad: the function has no such argument. FIX: they are counted from 0");
    (check_differentiable<std::tuple_element_t<At, std::tuple<A...>>>(), ...);
    std::tuple<A...> const outside{a...};
    std::tuple<A...> inside = outside;
    vec<int> leaves{};
    (make_independent(std::get<At>(inside), leaves), ...);
    if (leaves.empty())
      throw invalid("grad: nothing of the model is trained. FIX: another argument to differentiate by, tx::grad<f, 1>");
    auto const value = std::apply([](auto const&... x) { return F(x...); }, inside);
    constexpr value_info info = first_info<std::remove_const_t<decltype(value)>>();
    static_assert(info.count() == 1 && is_float(info.type),
                  "tx::grad: the function returns no floating-point scalar. FIX: reduce it, e.g. sum(f(x)), or "
                  "sum(f(x) * v) for the gradient along v");
    var const loss = first_tensor(value);
    graph& g = *loss.g;
    vec<int> const gradients = append(g, loss.id, leaves);
    int next = 0;
    auto result = [&] {
      if constexpr (sizeof...(At) == 1)
        return (as_gradient(std::get<At>(outside), g, gradients, next), ...);
      else
        return std::tuple{as_gradient(std::get<At>(outside), g, gradients, next)...};
    }();
    return value_with_gradient<std::remove_const_t<decltype(value)>, decltype(result)>{value, result};
  }

 private:
  // The nodes belong to whatever asks for them: in a loss to its forward pass.
  static constexpr vec<int> append(graph& g, int loss, vec<int> const& leaves) {
    step_phase const when = g.when;
    int const first = g.size();
    bool const before = g.gradients_again;
    g.gradients_again = true;  // a step may differentiate what is made of them
    vec<int> const ids = gradients(g, loss, leaves);
    g.gradients_again = before;
    for (int i = first; i < g.size(); ++i) g.nodes[i].when = when;
    g.when = when;
    return ids;
  }
};
template <auto F>
struct differentiation<F> : differentiation<F, 0> {};

template <auto F, int... At>
struct gradient_alone {
  template <class... A>
  static constexpr auto call(A const&... a) {
    return differentiation<F, At...>::call(a...).gradient;
  }
};

template <auto F, int... At>
struct grad_fn : called_like<std::remove_cvref_t<decltype(F)>, gradient_alone<F, At...>> {};
template <auto F, int... At>
struct with_grad_fn : called_like<std::remove_cvref_t<decltype(F)>, differentiation<F, At...>> {};

}  // namespace detail

template <auto F, int... At>
inline constexpr detail::grad_fn<F, At...> grad{};
template <auto F, int... At>
inline constexpr detail::with_grad_fn<F, At...> with_grad{};

}  // namespace tx
