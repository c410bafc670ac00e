// An optimizer that returns a number for a tensor.
// expect: an optimizer's update returns another shape or type than the parameter's. FIX:
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct mine {
  static constexpr int states = 1;
  static constexpr tx::var update(tx::update_context& u) {
    u.state[0] = u.gradient;
    return u.rate;
  }
};
struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, mine>;
static_assert(step::memory.peak > 0);
