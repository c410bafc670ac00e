// Parts of a batch give means: a result that is no scalar has none.
// expect: its results must be f32 or f64 scalars
#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::nn::linear<8, 4> out;
};
struct report {
  tx::tensor<float> loss;
  tx::tensor<float, 2, 4> outputs;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 2, 8> x) {
  auto const y = m.out(x);
  return report{tx::mean(y * y), y};
};
using step = tx::train_step<model, loss, tx::adamw, tx::accumulate<2>>;
tx::executor<step, tx::cpu> run{tx::seed(0)};
