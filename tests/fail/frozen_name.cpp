// A pattern of names to freeze that no parameter has.
// expect: tx: no parameter of the module has a name that this pattern matches. FIX: a name as run.tensors() has it
#include <tx/expr/by_name.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct net {
  tx::nn::linear<3, 2> layer;
  constexpr auto operator()(auto const& x) const { return layer(x); }
};
using model = tx::frozen_where<net, "layers.weight">;
constexpr auto loss = [](model const& m, tx::tensor<float, 4, 3> x) { return tx::sum(m(x)); };
constexpr auto bytes = tx::train_step<model, loss, tx::adamw>::memory.peak;
