// Low rank beside a layer that has it already.
// expect: tx: modules are attached to layers of a module that is attached to itself. FIX: one nn::lora
#include <tx/nn/lora.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct net {
  tx::nn::linear<3, 2> layer;
  constexpr auto operator()(auto const& x) const { return layer(x); }
};
using model = tx::nn::lora<tx::nn::lora<net, tx::nn::lora_options{}, tx::names<"layer">>, tx::nn::lora_options{}, tx::names<"layer">>;
constexpr auto loss = [](model const& m, tx::tensor<float, 4, 3> x) { return tx::sum(m(x)); };
constexpr auto bytes = tx::train_step<model, loss, tx::adamw>::memory.peak;
