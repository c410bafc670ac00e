// Shards give means: a result that is no scalar has none.
// expect: data_parallel, virtual_shards: a step hands back means over the shards, so its results must be floating-point scalars
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
struct report {
  tx::tensor<float> loss;
  tx::tensor<float, 2, 8> outputs;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 2, 8> x) { return report{tx::sum(m.w * x), m.w * x}; };
static_assert(tx::train_step<model, loss, tx::adamw, tx::virtual_shards<2>>::memory.peak > 0);
