// Options of an optimizer in place of the optimizer.
// expect: tx::train_step: the third argument is no optimizer. FIX: one of train/
#include <tx/ops/sum.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, tx::sgd_options>;
static_assert(step::memory.peak > 0);
