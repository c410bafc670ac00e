// A batch of any length cannot be cut into parts while compiling.
// expect: a batch in shards or parts: a bounded extent cannot be cut. FIX: a fixed one
#include <tx/nn/linear.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::nn::linear<4, 4> dense;
};
constexpr auto loss = [](model const& m, tx::tensor<float, tx::dyn<8>, 4> x) { return tx::sum(m.dense(x)); };
using step = tx::train_step<model, loss, tx::adamw, tx::accumulate<2>>;
static_assert(step::memory.peak > 0);
