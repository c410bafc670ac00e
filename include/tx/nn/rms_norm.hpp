// rms_norm<H>: rows of mean square 1, scaled. [..., H] -> [..., H]
#pragma once

#include <tx/expr/param.hpp>
#include <tx/ops/rms_norm.hpp>

namespace tx::nn {

template <int H>
struct rms_norm {
  static constexpr double epsilon = 1e-6;  // as T5 and Llama have it

  param<tensor<f32, H>, init::ones, not_decayed> weight;

  constexpr auto operator()(handle auto const& x) const { return tx::rms_norm(x, weight, epsilon); }
};

}  // namespace tx::nn
