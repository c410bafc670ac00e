// A model whose layers are in a std::vector.
// expect: tx: a member of a model is a param, a number or an aggregate of such
// expect: FIX: a std::array or repeat<N, Block> in place of a std::vector
// expect somewhere: std::vector<tx::nn::linear<8, 8
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/train/step.hpp>

#include <vector>

struct model {
  std::vector<tx::nn::linear<8, 8>> layers;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 4, 8> x) { return tx::mean(m.layers[0](x)); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
