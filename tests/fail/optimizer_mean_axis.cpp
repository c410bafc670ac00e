// An optimizer that wants the mean over an axis that a vector lacks.
// expect: update_context::mean: each tensor has no such axis. FIX: -1 for the last one, down to -own_rank
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct mine {
  static constexpr tx::state_kinds states{tx::per::tensor};
  static constexpr bool whole_tensors = true;
  static constexpr tx::var update(tx::update_context& u) {
    u.state[0] = u.mean(u.gradient, -2);
    return u.parameter - u.gradient * u.rate;
  }
};
struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, mine>;
static_assert(step::memory.peak > 0);
