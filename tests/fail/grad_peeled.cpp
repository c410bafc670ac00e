// The gradient by the parameters of a repeat that writes its last block out.
// expect: repeat: a peeled one takes slices of parameters alone. FIX:
#include <tx/autodiff/grad.hpp>
#include <tx/autodiff/inner_product.hpp>
#include <tx/step/function.hpp>

struct block {
  tx::param<tx::tensor<float, 8>> scale;
  constexpr auto operator()(auto const& x) const { return x * scale; }
};
struct model {
  tx::repeat<3, block, tx::peel::last> layers;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 8> x) { return tx::sum(m.layers(x)); };
constexpr auto norm = [](model const& m, tx::tensor<float, 8> x) {
  auto const g = tx::grad<loss>(m, x);
  return tx::inner_product(g, g);
};
static_assert(tx::function<norm, model>::memory.peak > 0);
