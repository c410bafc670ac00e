// linear<In, Out>: x W^T + b. [..., In] -> [..., Out]. The weight is stored [Out, In], as Hugging Face files hold it.
#pragma once

#include <tx/ops/matmul.hpp>  // first, as in tx.hpp

#include <tx/nn/low_rank.hpp>
#include <tx/ops/add.hpp>

namespace tx::nn {

template <int In, int Out, class Init = init::normal<20, 1000>>
struct linear {
  param<tensor<f32, Out, In>, Init> weight;
  param<tensor<f32, Out>, init::zeros, not_decayed> bias;
  attachment beside{};  // see lora.hpp

  constexpr auto operator()(handle auto const& x) const { return with_low_rank(matmul(x, transpose(weight)) + bias, x, beside); }
};

}  // namespace tx::nn
