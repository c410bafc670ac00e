// Training of parameters that a peeled repeat reads by parts and a penalty reads whole.
// expect: a parameter of repeated blocks is read by a repeat that is peeled and as a whole too, which is not known to training. FIX:
#include <tx/autodiff/inner_product.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

struct block {
  tx::param<tx::tensor<float, 8>> scale;
  constexpr auto operator()(auto const& x) const { return x * scale; }
};
struct model {
  tx::repeat<3, block, tx::peel::last> layers;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 8> x) { return tx::sum(m.layers(x)) + tx::inner_product(m, m); };
static_assert(tx::train_step<model, loss, tx::sgd>::memory.peak > 0);
