// Channels that the groups do not divide.
// expect: tx::tensor<float, 8, 6, 5>
// expect: group_norm: the channels do not divide into the groups
#include <tx/ops/group_norm.hpp>

constexpr auto f = [](tx::tensor<float, 8, 6, 5> x, tx::tensor<float, 6> scale) {
  return tx::group_norm<4>(x, scale, scale);
};
using result = decltype(f({}, {}));
