// A batch is in parts one after the other, or in shards side by side.
// expect: accumulate<N> and a division over shards or ranks do not go together
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::nn::linear<8, 4> out;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 2, 8> x) { return tx::mean(m.out(x)); };
using step = tx::train_step<model, loss, tx::adamw, tx::accumulate<2>, tx::virtual_shards<2>>;
static_assert(step::memory.peak > 0);
