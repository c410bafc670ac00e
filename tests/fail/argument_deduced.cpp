// An argument whose type would follow from what is passed: but the step is compiled before anything is.
// expect: tx: the arguments of a loss or function cannot be told. FIX:
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](auto const& m, auto x) { return tx::sum(m.w * x); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
