// An option beyond its range, named for a step alone.
// expect: tx::mixed takes a half, or e4m3. FIX:
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
static_assert(tx::train_step<model, loss, tx::adamw, tx::mixed<float>>::parts == 1);
