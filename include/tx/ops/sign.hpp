// sign(x): 1 above 0, -1 below, x itself where it is neither: +-0 and NaN. [...] -> the same. It has no slope: gradients stop here.
// (PyTorch's sign of NaN is 0, which hides it.)
#pragma once

#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct sign {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    using math::select;
    return select(V(0) < x, V(1), select(x < V(0), V(-1), x));
  }
};
}  // namespace rules

inline constexpr op_info sign_info = flat(elementwise_op<rules::sign, 1>("sign", nullptr, false, detail::number_infer));
template <>
struct scalar_rule<&sign_info> {
  using type = rules::sign;
};

template <handle X>
constexpr auto sign(X const& x) {
  return lift_elementwise<&sign_info>(x);
}

}  // namespace tx
