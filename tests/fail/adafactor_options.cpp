// A share of 1: the mean of steps would never move.
// expect: tx::adafactor_with: beta1 is no share. FIX: at least 0 and below 1
#include <tx/ops/sum.hpp>
#include <tx/train/adafactor.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, tx::adafactor_with<tx::adafactor_options{.beta1 = 1}>>;
static_assert(step::memory.peak > 0);
