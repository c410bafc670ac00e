// An option that belongs to a step.
// expect: tx::value_and_grad: clipping, parts and shards of a batch, and runs of an update, belong to a step. FIX: tx::train_step
#include <tx/ops/sum.hpp>
#include <tx/train/value_and_grad.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using program = tx::value_and_grad<loss, model, tx::clip_gradient>;
static_assert(program::memory.peak > 0);
