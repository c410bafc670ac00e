// An optimizer that stores a number for each column of a vector, which has none.
// expect: an optimizer's update reads or writes a state per column of a tensor of fewer than two axes. FIX: only where update_context::own_rank
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct mine {
  static constexpr tx::state_kinds states{tx::per::row, tx::per::column};
  static constexpr bool whole_tensors = true;
  static constexpr tx::var update(tx::update_context& u) {
    u.state[1] = u.state[1] * 2.0;
    return u.parameter - u.gradient * u.rate;
  }
};
struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, mine>;
static_assert(step::memory.peak > 0);
