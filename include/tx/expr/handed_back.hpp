// What a run hands back of what a step returns: numbers where that is a scalar, so that run(x).loss * 2 and printf("%f", run(x).loss) are what
// they look like, else tensors, views of the elements.
//
//   a loss that returns tensor<f32>        loss_result    {f32 loss}
//   a function that returns tensor<f32, 8> single_result  {tensor<f32, 8> value}
//
// A struct of the caller's is handed back as it is: its scalars are tensors<f32>, which become numbers by float(r.accuracy).
#pragma once

#include <tx/expr/bundle.hpp>

#include <span>

namespace tx {

namespace detail {
template <class T>
struct handed_back_of {
  using type = T;
};
template <class T>
struct handed_back_of<tensor<T>> {
  using type = T;
};
template <class T>
concept element = requires { dtype_of<T>::value; };
}  // namespace detail

template <class T>
using handed_back = typename detail::handed_back_of<T>::type;

// Calls f on each tensor and each number of what a run hands back, in order.
template <class Result, class F>
constexpr void for_each_result(Result& result, F f) {
  using type = std::remove_const_t<Result>;
  if constexpr (detail::element<type> || typed_handle<type>)
    f(result);
  else if constexpr (detail::is_tuple<type>)
    std::apply([&](auto&... member) { (for_each_result(member, f), ...); }, result);
  else
    std::apply([&](auto&... member) { (for_each_result(member, f), ...); }, detail::members(result));
}

// Of one of those: its elements, or the number as the only one.
template <class X>
constexpr auto elements_of(X const& x) {
  if constexpr (typed_handle<X>) return std::span<typename X::element_type const>(x.data, x.size());
  else return std::span<X const>(&x, 1);
}

}  // namespace tx
