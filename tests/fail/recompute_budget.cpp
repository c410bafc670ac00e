// A budget of activations that no recomputation reaches: the error names the smallest that one does, far from it and one byte below.
// Here it is what the four blocks are given: 4 x [8, 16] of f32, since all else is computed from those.
// several errors
// expect: the activations do not fit the budget, whatever is computed again: the numbers are budget and smallest plan. FIX:
// expect somewhere: activations_fit<100, 2048>
// expect somewhere: activations_fit<2047, 2048>
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/train/step.hpp>

struct block {
  tx::nn::linear<16, 16> dense;
  constexpr auto operator()(auto const& x) const { return tx::tanh(dense(x)); }
};
struct model {
  tx::repeat<4, block> layers;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 8, 16> x) { return tx::sum(m.layers(x)); };
template <std::int64_t Bytes>
using step = tx::train_step<model, loss, tx::adamw, tx::recompute<Bytes>>;
static_assert(step<2048>::memory.activations == 2048);
static_assert(step<100>::memory.peak > 0);
static_assert(step<2047>::memory.peak > 0);
