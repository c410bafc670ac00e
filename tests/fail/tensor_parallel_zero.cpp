// What ranks keep of a parameter, a part that they use, is not divided again.
// expect: tx::tensor_parallel: ranks keep the part of a parameter that they use, which zero<2>, zero<3> and adasum would divide again. FIX: data_parallel beside it, with zero<1> at most
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
static_assert(tx::train_step<net, loss, tx::sgd, tx::tensor_parallel<2>, tx::data_parallel<2>, tx::zero<2>>::memory.peak > 0);
