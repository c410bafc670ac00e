// A member of a model that is a tensor, not a parameter.
// expect: tx: a model holds a tensor, which has no numbers of its own. FIX: tx::param<tensor<...>>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> weight;
  tx::tensor<float, 8> scale;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.weight * m.scale); };
static_assert(tx::train_step<model, loss, tx::adamw>::memory.peak > 0);
