// An optimizer that stores a number for each element in a state that has one for each row.
// expect: an optimizer's update stores a state of another shape or type than it keeps. FIX: in u.state[k] the extents that it had
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct mine {
  static constexpr tx::state_kinds states{tx::per::row};
  static constexpr bool whole_tensors = true;
  static constexpr tx::var update(tx::update_context& u) {
    u.state[0] = u.gradient;
    return u.parameter - u.gradient * u.rate;
  }
};
struct model {
  tx::param<tx::tensor<float, 8, 4>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, mine>;
static_assert(step::memory.peak > 0);
