// Gradients of a multiple of the loss, where ranks have blocks of their own.
// expect: tx::pipeline: gradients of a multiple of the loss are not known to it. FIX: mixed<bf16>
#include <tx/dist/pipeline.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/train/loss_scale.hpp>
#include <tx/train/options.hpp>
#include <tx/train/step.hpp>

struct net {
  tx::repeat<4, tx::nn::linear<8, 8>> layers;
};
constexpr auto loss = [](net const& m, tx::tensor<float, 4, 8> x) { return tx::mean(m.layers(x)); };
auto const memory = tx::train_step<net, loss, tx::adamw, tx::accumulate<4>, tx::pipeline<2>, tx::loss_scale>::memory;
