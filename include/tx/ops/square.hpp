// square(x): x * x. [...] -> the same.
#pragma once

#include <tx/ops/mul.hpp>

namespace tx {

template <handle X>
constexpr auto square(X const& x) {
  return x * x;
}

}  // namespace tx
