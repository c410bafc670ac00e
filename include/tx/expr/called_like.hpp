// Function objects made of others: one that takes what another one takes, so that a program can read its arguments off
// its type.
#pragma once

#include <tx/expr/trace.hpp>

namespace tx::detail {

template <class Arguments, class Body>
struct called_with;
template <class... A, class Body>
struct called_with<std::tuple<A...>, Body> {
  constexpr auto operator()(A const&... a) const { return Body::call(a...); }
};

// Body::call(x...), with the arguments of F where its type tells them, with any where F is generic.
template <class F, class Body>
struct called_like {
  template <class... A>
  constexpr auto operator()(A const&... a) const {
    return Body::call(a...);
  }
};
template <class F, class Body>
requires one_signature<F>
struct called_like<F, Body> : called_with<typename signature<decltype(&F::operator())>::arguments, Body> {
};

}  // namespace tx::detail
