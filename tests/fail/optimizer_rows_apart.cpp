// An optimizer that keeps a number for each row but would be shown many tensors at once.
// expect: tx::train_step: an optimizer keeps a state per row, column or tensor, but may be shown many tensors at once. FIX: whole_tensors = true
#include <tx/ops/sub.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct mine {
  static constexpr tx::state_kinds states{tx::per::row};
  static constexpr tx::var update(tx::update_context& u) {
    u.state[0] = u.state[0] * 2.0;
    return u.parameter - u.gradient * u.rate;
  }
};
struct model {
  tx::param<tx::tensor<float, 8, 4>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, mine>;
static_assert(step::memory.peak > 0);
