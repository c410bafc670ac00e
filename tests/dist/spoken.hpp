// A model whose heads and columns ranks divide, and its blocks: for tests of tensor_parallel beside pipeline.
#pragma once

#include "pipelined.hpp"

#include <tx/ops/broadcast.hpp>

namespace divided {

constexpr int words_said = 12;

// Heads and what is fed on, which ranks divide; a bias that all blocks share; a table whose rows are divided, for what goes in and for what is guessed.
struct spoken_block {
  nn::linear<hidden, hidden> q, k, v, out;
  nn::linear<hidden, 3 * hidden> in;
  nn::linear<3 * hidden, hidden> back;
  nn::layer_norm<hidden> norm;
  constexpr auto operator()(tensor<float, texts, places, hidden> const& x, tensor<float, places, places> const& bias) const {
    auto const split = [](auto const& y) { return transpose<0, 2, 1, 3>(reshape<texts, places, 4, hidden / 4>(y)); };
    auto const mixed = nn::attend(split(q(x)), split(k(x)), split(v(x)), nn::causal);
    auto const y = norm(x + out(reshape<texts, places, hidden>(transpose<0, 2, 1, 3>(mixed))) + matmul(broadcast_to<texts, places, places>(reshape<1, places, places>(bias)), x));
    return y + back(dropout(gelu(in(y)), 0.25f));
  }
};
template <peel Peeled>
struct speaker_of {
  param<tensor<float, words_said, hidden>, init::normal<1, 2>> table;
  param<tensor<float, places, places>, init::normal<1, 2>> bias;
  nn::layer_norm<hidden> first;
  repeat<4, spoken_block, Peeled> body;
  param<tensor<float, hidden>, init::normal<1, 2>> scale;
};
template <peel Peeled>
constexpr auto loss_of_said = [](speaker_of<Peeled> const& m, tensor<i32, texts, places> ids, tensor<i32, texts> labels) {
  auto const last = m.body(dropout(m.first(embedding(m.table, reshape<texts, places, 1>(ids))), 0.1f), tanh(m.bias) * 0.5f);
  return cross_entropy(matmul(reshape<texts, hidden>(slice<1, 0, 1>(last)) * (m.scale + 1), transpose<1, 0>(m.table)), labels);
};
template <peel Peeled, class Optimizer, class... Options>
using spoken = train_step<speaker_of<Peeled>, loss_of_said<Peeled>, Optimizer, Options...>;

}  // namespace divided
