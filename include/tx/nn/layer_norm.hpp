// layer_norm<H>: rows of mean 0 and variance 1, scaled and shifted. [..., H] -> [..., H]
#pragma once

#include <tx/expr/param.hpp>
#include <tx/ops/layer_norm.hpp>

namespace tx::nn {

template <int H>
struct layer_norm {
  static constexpr double epsilon = 1e-12;  // as BERT has it

  param<tensor<f32, H>, init::ones, not_decayed> weight;
  param<tensor<f32, H>, init::zeros, not_decayed> bias;

  constexpr auto operator()(handle auto const& x) const { return tx::layer_norm(x, weight, bias, epsilon); }
};

}  // namespace tx::nn
