// gated_feed_forward<H, F, Gate>: down(gate(gate_proj(x)) * up(x)) (Shazeer, GLU Variants Improve Transformer, arXiv 2002.05202), without biases and
// named as Llama's. [..., H] -> [..., H], F wide within. Gate is tx::silu (SwiGLU) unless another function is given, as a lambda of tx::gelu (GEGLU).
#pragma once

#include <tx/nn/projection.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/silu.hpp>

namespace tx::nn {

inline constexpr auto silu_gate = [](auto const& x) { return tx::silu(x); };

template <int H, int F, auto Gate = silu_gate>
struct gated_feed_forward {
  projection<H, F> gate_proj, up_proj;
  projection<F, H> down_proj;

  constexpr auto operator()(typed_handle auto const& x) const { return down_proj(Gate(gate_proj(x)) * up_proj(x)); }
};

}  // namespace tx::nn
