// A model with a constructor: its members cannot be found.
// expect: tx: a model is an aggregate: a struct with public members, no constructors and no private state
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/train/step.hpp>

struct model {
  model() {}
  tx::nn::linear<8, 1> out;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 4, 8> x) { return tx::mean(m.out(x)); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
