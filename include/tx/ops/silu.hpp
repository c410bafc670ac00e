// silu(x): x sigmoid(x), also known as swish (Elfwing et al., arXiv 1702.03118). [...] -> the same. NaN at -infinity, where it is 0 times
// infinity.
#pragma once

#include <tx/ops/mul.hpp>
#include <tx/ops/sigmoid.hpp>

namespace tx {

template <handle X>
constexpr auto silu(X const& x) {
  return x * sigmoid(x);
}

}  // namespace tx
