// A loss that does not take the model.
// expect: tx: a loss or function of a model takes the model first. FIX: [](model const& m, tensor<T, ...> x)
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](tx::tensor<float, 8> x) { return tx::sum(x); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
