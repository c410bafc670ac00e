// A beta of 1: the mean would never move.
// expect: adam_options: a beta is no share. FIX: beta1 and beta2 at least 0 and below 1
#include <tx/ops/sum.hpp>
#include <tx/train/adam.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(m.w * m.w); };
using step = tx::train_step<model, loss, tx::adam_with<tx::adam_options{.beta2 = 1}>>;
static_assert(step::memory.peak > 0);
