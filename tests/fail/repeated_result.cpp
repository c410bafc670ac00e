// A result that is a parameter of repeated blocks.
// expect: a result is a parameter of repeated blocks, or its gradient, which has a slice for each. FIX:
#include <tx/autodiff/grad.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/step/function.hpp>

struct block {
  tx::param<tx::tensor<float, 8>> scale;
  constexpr auto operator()(auto const& x) const { return x * scale; }
};
struct model {
  tx::repeat<3, block> layers;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 8> x) { return tx::sum(m.layers(x)); };
static_assert(tx::function<tx::grad<loss>, model>::memory.peak > 0);
