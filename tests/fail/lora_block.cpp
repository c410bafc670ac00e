// Low rank beside a layer of one block of a repeat.
// expect: tx::nn::lora: this pattern matches a layer in some blocks of a repeat, and not in all, which are recorded as one. FIX:
#include <tx/expr/repeat.hpp>
#include <tx/nn/lora.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct net {
  tx::repeat<2, tx::nn::linear<3, 3>> layer;
  constexpr auto operator()(auto const& x) const { return layer(x); }
};
using model = tx::nn::lora<net, tx::nn::lora_options{}, tx::names<"layer.1">>;
constexpr auto loss = [](model const& m, tx::tensor<float, 4, 3> x) { return tx::sum(m(x)); };
constexpr auto bytes = tx::train_step<model, loss, tx::adamw>::memory.peak;
