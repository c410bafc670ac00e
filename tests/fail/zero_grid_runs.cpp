// Sums over runs are not divided twice.
// expect: tx::zero: beside tensor_parallel and pipeline a rank has portions of portions, which accumulate_runs, layer_decay and optimizers that look at whole tensors do not take. FIX: accumulate, an optimizer as tx::adamw, or no zero
#include <tx/dist/data_parallel.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

struct net {
  tx::nn::linear<4, 8> in;
  tx::nn::linear<8, 4> out;
};
constexpr auto loss = [](net const& m, tx::tensor<float, 2, 4> x) { return tx::sum(m.out(tx::gelu(m.in(x)))); };
static_assert(tx::train_step<net, loss, tx::sgd, tx::tensor_parallel<2>, tx::data_parallel<2>, tx::zero<1>, tx::accumulate_runs<2>>::memory.peak > 0);
