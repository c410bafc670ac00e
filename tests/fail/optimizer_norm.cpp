// An optimizer that wants a norm of each tensor but would be shown many at once.
// expect: update_context::norm: of many tensors. FIX: whole_tensors = true in the optimizer
#include <tx/ops/div.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct unit_steps {
  static constexpr int states = 0;
  static constexpr tx::var update(tx::update_context& u) {
    return u.parameter - u.gradient / (u.norm(u.gradient) + 1e-6) * u.rate;
  }
};
struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, unit_steps>;
static_assert(step::memory.peak > 0);
