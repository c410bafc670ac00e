// Rates of layers, with a pattern of what lies below them that matches the layers.
// expect: layer_decay: a pattern matches a parameter of a repeat, which lies below no layer. FIX:
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct net {
  tx::repeat<3, tx::nn::linear<3, 3>> layer;
};
constexpr auto loss = [](net const& m, tx::tensor<float, 4, 3> x) { return tx::sum(m.layer(x)); };
constexpr auto bytes = tx::train_step<net, loss, tx::adamw, tx::layer_decay<"layer.*">>::memory.peak;
