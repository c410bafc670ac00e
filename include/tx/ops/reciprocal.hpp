// reciprocal(x): 1 / x; +-infinity at +-0. [...] -> the same.
#pragma once

#include <tx/ops/div.hpp>

namespace tx {

namespace detail {
struct reciprocal_fn {
  constexpr var operator()(var x) const {
    if (!is_float(x.type())) throw invalid("reciprocal: an integer has none. FIX: cast<tx::f32>(x) first");
    return 1.0 / x;
  }
};
}  // namespace detail

template <handle X>
constexpr auto reciprocal(X const& x) {
  return lift<detail::reciprocal_fn>(x);
}

}  // namespace tx
