// Rates of layers in a model that has none.
// expect: layer_decay: the model has no repeat, whose blocks are the layers. FIX:
#include <tx/nn/linear.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

constexpr auto loss = [](tx::nn::linear<3, 3> const& m, tx::tensor<float, 4, 3> x) { return tx::sum(m(x)); };
constexpr auto bytes = tx::train_step<tx::nn::linear<3, 3>, loss, tx::adamw, tx::layer_decay<>>::memory.peak;
