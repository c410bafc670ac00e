// A sum over runs beside an optimizer that keeps as many states as there may be.
// expect: tx::train_step: the optimizer has so many states that none is left for the sum over runs, or the loss's scale. FIX: accumulate_runs and loss_scale with an optimizer of fewer states
#include <tx/ops/mean.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 4>> w;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 4> x) { return tx::mean(m.w * x); };
struct greedy {
  static constexpr int states = 4;
  static constexpr tx::var update(tx::update_context& u) { return u.parameter - u.gradient * u.rate; }
};
static_assert(tx::train_step<model, loss, greedy, tx::accumulate_runs<2>>::memory.peak > 0);
