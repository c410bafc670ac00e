// A type that is no option of a step, where one is expected.
// expect: tx::train_step: a type behind the optimizer is no option. FIX:
#include <tx/nn/linear.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/averaged.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::nn::linear<3, 2> layer;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 4, 3> x) { return tx::sum(m.layer(x)); };
constexpr auto bytes = tx::train_step<model, loss, tx::adamw, tx::averaged<tx::adamw>>::memory.peak;
