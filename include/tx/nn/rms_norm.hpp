// rms_norm<H, Epsilon>: rows of mean square 1, scaled. [..., H] -> [..., H]. Epsilon, what is added to the mean square, is a std::ratio: 1e-6 as
// T5 and Llama have it unless another is given.
#pragma once

#include <tx/expr/param.hpp>
#include <tx/ops/rms_norm.hpp>

#include <ratio>

namespace tx::nn {

template <int H, class Epsilon = std::micro>
struct rms_norm {
  static constexpr double epsilon = static_cast<double>(Epsilon::num) / static_cast<double>(Epsilon::den);

  param<tensor<f32, H>, init::ones, not_decayed> weight;

  constexpr auto operator()(handle auto const& x) const { return tx::rms_norm(x, weight, epsilon); }
};

}  // namespace tx::nn
