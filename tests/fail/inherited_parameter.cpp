// Two parameters of one name: one is a base class's, and hidden. (Within one struct C++ refuses them itself.)
// expect: tx: a model has no base class: it might have a member of one name with the model's. FIX: make the base a member
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct base {
  tx::param<tx::tensor<float, 8>> weight;
};
struct model : base {
  tx::param<tx::tensor<float, 8>> weight;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.weight * m.weight); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
