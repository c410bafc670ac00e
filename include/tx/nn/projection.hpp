// projection<In, Out>: x W^T, linear without its bias. [..., In] -> [..., Out]. The weight is stored [Out, In], as Hugging Face files hold it.
#pragma once

#include <tx/nn/low_rank.hpp>

namespace tx::nn {

template <int In, int Out, class Init = init::normal<20, 1000>>
struct projection {
  param<tensor<f32, Out, In>, Init> weight;
  attachment beside{};  // see lora.hpp

  constexpr auto operator()(handle auto const& x) const { return with_low_rank(matmul(x, transpose(weight)), x, beside); }
};

}  // namespace tx::nn
