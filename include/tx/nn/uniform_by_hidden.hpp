// How recurrent layers start: uniform in +-1 / sqrt(Hidden), as PyTorch's.
#pragma once

#include <tx/core/math.hpp>

#include <cstdint>

namespace tx::nn {

template <int Hidden>
struct uniform_by_hidden {
  static double value(double u, double, std::int64_t) { return (2 * u - 1) / math::sqrt(static_cast<double>(Hidden)); }
};

}  // namespace tx::nn
