// conv2d<In, Out, Size, options>: a convolution with its weight and bias, named and shaped as PyTorch's Conv2d.
// [N, In, H, W] -> [N, Out, rows, columns]
#pragma once

#include <tx/expr/param.hpp>
#include <tx/ops/conv2d.hpp>

namespace tx::nn {

// Uniform in +-1 / sqrt(fan_in), the numbers that each output is a sum of: PyTorch's default.
struct uniform_by_fan_in {
  static double value(double u, double, std::int64_t fan_in) { return (2 * u - 1) / math::sqrt(static_cast<double>(fan_in)); }
};

template <int In, int Out, int Size, conv2d_options Options = conv2d_options{}>
struct conv2d {
  param<tensor<f32, Out, In / Options.groups, Size, Size>, uniform_by_fan_in> weight;
  param<tensor<f32, Out>, init::zeros, not_decayed> bias;

  constexpr auto operator()(handle auto const& x) const { return tx::conv2d<Options>(x, weight, bias); }
};

}  // namespace tx::nn
