// layer_norm<H, Epsilon>: rows of mean 0 and variance 1, scaled and shifted. [..., H] -> [..., H]. Epsilon, what is added to the variance, is a
// std::ratio: 1e-12 as BERT has it unless another is given, as std::ratio<1, 100'000> for RoBERTa.
#pragma once

#include <tx/expr/param.hpp>
#include <tx/ops/layer_norm.hpp>

#include <ratio>

namespace tx::nn {

template <int H, class Epsilon = std::pico>
struct layer_norm {
  static constexpr double epsilon = static_cast<double>(Epsilon::num) / static_cast<double>(Epsilon::den);

  param<tensor<f32, H>, init::ones, not_decayed> weight;
  param<tensor<f32, H>, init::zeros, not_decayed> bias;

  constexpr auto operator()(handle auto const& x) const { return tx::layer_norm(x, weight, bias, epsilon); }
};

}  // namespace tx::nn
