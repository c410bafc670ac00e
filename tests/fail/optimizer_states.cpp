// An optimizer of more states than a step keeps.
// expect: tx::train_step: an optimizer has 0 to 4 states
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct five_states {
  static constexpr int states = 5;
  static constexpr tx::var update(tx::update_context& u) { return u.parameter; }
};
struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
static_assert(tx::train_step<model, loss, five_states>::parts == 1);
