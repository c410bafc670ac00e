// A loss of one number per row.
// expect: a loss must be a floating-point scalar. FIX: reduce it, e.g. with mean(x)
#include <tx/nn/linear.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::nn::linear<8, 1> out;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 4, 8> x) { return m.out(x); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
