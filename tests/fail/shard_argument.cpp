// An argument without an axis that shards could divide.
// expect: tx: a batch in shards or parts: an argument of the loss has no leading axis to cut. FIX: tensor<T, 1>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m, tx::tensor<float> scale) { return tx::sum(m.w * scale); };
using arguments = tx::train_step<model, loss, tx::adamw, tx::data_parallel<2>, tx::virtual_shards<2>>::arguments;
