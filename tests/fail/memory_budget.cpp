// A step that needs more memory than its author allows.
// expect: the step must fit 8 KiB
// expect: static_assert(step::memory.peak < 8 << 10
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::nn::linear<64, 32> out;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 32, 64> x, tx::tensor<tx::i32, 32> y) { return tx::cross_entropy(m.out(x), y); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak < 8 << 10, "the step must fit 8 KiB");
