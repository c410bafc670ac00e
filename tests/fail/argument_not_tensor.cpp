// A plain number as the argument of a loss.
// expect: tx: an argument of a loss or function is no tensor. FIX: tensor<T, ...>; a number is tensor<T>, without extents
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m, float scale) { return tx::sum(m.w * scale); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
