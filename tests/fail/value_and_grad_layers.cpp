// Rates of layers, where nothing is updated.
// expect: tx::value_and_grad: rates of layers belong to a step. FIX: tx::train_step
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/value_and_grad.hpp>

struct net {
  tx::repeat<3, tx::nn::linear<3, 3>> layer;
};
constexpr auto loss = [](net const& m, tx::tensor<float, 4, 3> x) { return tx::sum(m.layer(x)); };
constexpr auto bytes = tx::value_and_grad<loss, net, tx::layer_decay<>>::memory.peak;
