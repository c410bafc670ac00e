// A setting that nothing in the program declares.
// expect: no part of the program has a setting of that name
#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mse.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

using model = tx::nn::linear<4, 4>;
constexpr auto loss = [](model const& m, tx::tensor<float, 2, 4> x) { return tx::mse(m(x), x); };
void f(tx::executor<tx::train_step<model, loss, tx::adamw>, tx::cpu>& run) { run.settings["dropout"] = 0.5f; }
