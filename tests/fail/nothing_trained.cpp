// All parameters that the loss depends on are frozen.
// expect: the loss depends on no parameter that is trained. FIX: use the model it is given
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>, tx::init::ones, tx::frozen> w;
  tx::param<tx::tensor<float, 8>> unused;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
