// Trained parameters of two element types in one model.
// expect: tx: the parameters of a model that are trained must have one element type
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> a;
  tx::param<tx::tensor<double, 8>> b;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.a * m.a); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
