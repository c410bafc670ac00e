// The norm of a gradient that is summed over parts.
// expect: tx::train_step: gradient_norm and accumulate<N> do not go together yet. FIX: leave one of them out
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 2, 8> x) { return tx::sum(m.w * x); };
using step = tx::train_step<model, loss, tx::adamw, tx::accumulate<2>, tx::gradient_norm>;
static_assert(step::memory.peak > 0);
