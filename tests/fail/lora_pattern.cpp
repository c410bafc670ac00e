// Low rank beside layers of a name that the model has not.
// expect: tx::nn::lora: no linear layer of the model has a name that this pattern matches. FIX:
#include <tx/nn/lora.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct net {
  tx::nn::linear<3, 2> layer;
  constexpr auto operator()(auto const& x) const { return layer(x); }
};
using model = tx::nn::lora<net>;
constexpr auto loss = [](model const& m, tx::tensor<float, 4, 3> x) { return tx::sum(m(x)); };
constexpr auto bytes = tx::train_step<model, loss, tx::adamw>::memory.peak;
