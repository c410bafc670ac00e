// projection<In, Out>: x W^T, linear without its bias. [..., In] -> [..., Out]. The weight is stored [Out, In], as Hugging Face files hold it.
#pragma once

#include <tx/expr/param.hpp>
#include <tx/ops/matmul.hpp>

namespace tx::nn {

template <int In, int Out, class Init = init::normal<20, 1000>>
struct projection {
  param<tensor<f32, Out, In>, Init> weight;

  constexpr auto operator()(handle auto const& x) const { return matmul(x, transpose(weight)); }
};

}  // namespace tx::nn
