// group_norm<Groups, Channels>: groups of neighbouring channels of mean 0 and variance 1, each channel scaled and
// shifted. [batch, Channels, ...] -> the same. Epsilon, what is added to the variance, is a std::ratio: 1e-5 as PyTorch has it unless
// another is given.
#pragma once

#include <tx/expr/param.hpp>
#include <tx/ops/group_norm.hpp>

#include <ratio>

namespace tx::nn {

template <int Groups, int Channels, class Epsilon = std::ratio<1, 100'000>>
struct group_norm {
  static_assert(
      Groups > 0 && Channels % Groups == 0,
      "tx::nn::group_norm: the channels do not divide into the groups. FIX: a number of groups that divides them");
  static constexpr double epsilon = static_cast<double>(Epsilon::num) / static_cast<double>(Epsilon::den);

  param<tensor<f32, Channels>, init::ones, not_decayed> weight;
  param<tensor<f32, Channels>, init::zeros, not_decayed> bias;

  constexpr auto operator()(handle auto const& x) const { return tx::group_norm<Groups>(x, weight, bias, epsilon); }
};

}  // namespace tx::nn
