// A peeled repeat whose blocks give away something beside their carry.
// expect: tx::repeat: a peeled one does not stack what its blocks give away. FIX:
#include <tx/expr/repeat.hpp>
#include <tx/ops/mul.hpp>
#include <tx/step/function.hpp>

struct block {
  tx::param<tx::tensor<float, 8>> scale;
  constexpr auto operator()(auto const& x) const { return tx::scanned{x * scale, x}; }
};
struct model {
  tx::repeat<2, block, tx::peel::last> layer;
};
constexpr auto f = [](model const& m, tx::tensor<float, 8> x) { return m.layer(x); };
using result = decltype(f({}, {}));
