// One block of a repeat to freeze, where the parameters of all are one tensor.
// expect: tx: this pattern matches a parameter in some blocks of a repeat, and not in all; those of all blocks are one tensor. FIX:
#include <tx/expr/by_name.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct net {
  tx::repeat<3, tx::nn::linear<3, 3>> layer;
  constexpr auto operator()(auto const& x) const { return layer(x); }
};
using model = tx::frozen_where<net, "layer.0.*">;
constexpr auto loss = [](model const& m, tx::tensor<float, 4, 3> x) { return tx::sum(m(x)); };
constexpr auto bytes = tx::train_step<model, loss, tx::adamw>::memory.peak;
