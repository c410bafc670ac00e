// A gradient of the gradient of a product of elements, which has none.
// expect: tx: an op between the loss and a parameter has no gradient. FIX:
// expect somewhere: products_of_others_info
#include <tx/autodiff/grad.hpp>
#include <tx/ops/prod.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto product = [](auto const& x, auto const& w) { return tx::prod(x * w); };
constexpr auto loss = [](model const& m, tx::tensor<float, 8> x) { return tx::sum(tx::grad<product>(x, m.w)); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
