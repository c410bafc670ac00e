// A layer of this project's own: x + squash(W x + b). [batch, N] -> [batch, N].
#pragma once

#include "squash.hpp"

#include <tx/nn/linear.hpp>

namespace own {

template <int N>
struct residual {
  tx::nn::linear<N, N> inner;
  constexpr auto operator()(auto const& x) const { return x + squash(inner(x)); }
};

}  // namespace own
