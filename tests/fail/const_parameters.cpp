// A program that trains, on parameters that are not to be changed.
// expect: tx::executor: a program that trains, or sets a state, changes what lies in its parameter_block, and this one is
// const. FIX: a parameter_block that is not
#include <tx/backends/reference.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, tx::sgd>;
void train(tx::parameter_block<model, tx::reference> const& weights) { tx::executor<step, tx::reference> run{weights}; }
