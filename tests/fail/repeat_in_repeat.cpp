// A repeated block inside a repeated block.
// expect: a repeat inside a repeat is not supported. FIX:
#include <tx/expr/repeat.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/train/step.hpp>

using vector = tx::tensor<float, 8>;
struct inner {
  constexpr auto operator()(auto const& x) const { return tx::tanh(x); }
};
struct outer {
  tx::param<vector> scale;
  tx::repeat<2, inner> twice;
  constexpr auto operator()(auto const& x) const { return twice(x * scale); }
};
struct model {
  tx::repeat<3, outer> layers;
};
constexpr auto loss = [](model const& m, vector x) { return tx::sum(m.layers(x)); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
