// An optimizer that stores a second state but says that it keeps one.
// expect: an optimizer's update reads or writes a state[k] that it does not keep. FIX: `states` in the optimizer
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct mine {
  static constexpr int states = 1;
  static constexpr tx::var update(tx::update_context& u) {
    u.state[1] = u.gradient;
    return u.parameter - u.gradient * u.rate;
  }
};
struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, mine>;
static_assert(step::memory.peak > 0);
