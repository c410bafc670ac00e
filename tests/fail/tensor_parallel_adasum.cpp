// What ranks have of a gradient, a part, is not combined as a whole one is.
// expect: tx::tensor_parallel: adasum is of whole gradients, of which ranks have parts. FIX: data_parallel beside it, without adasum
#include <tx/dist/adasum.hpp>
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
static_assert(tx::train_step<net, loss, tx::sgd, tx::tensor_parallel<2>, tx::data_parallel<2>, tx::adasum>::memory.peak > 0);
