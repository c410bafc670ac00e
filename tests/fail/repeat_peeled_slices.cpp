// A peeled repeat whose blocks shall each have a slice.
// expect: tx::repeat: a peeled one has no slices of tx::each for its last block alone. FIX:
#include <tx/expr/repeat.hpp>
#include <tx/ops/mul.hpp>
#include <tx/step/function.hpp>

struct block {
  tx::param<tx::tensor<float, 8>> scale;
  constexpr auto operator()(auto const& x, auto const& y) const { return x * scale + y; }
};
struct model {
  tx::repeat<2, block, tx::peel::last> layer;
};
constexpr auto f = [](model const& m, tx::tensor<float, 8> x, tx::tensor<float, 2, 8> ys) { return m.layer(x, tx::each(ys)); };
using result = decltype(f({}, {}, {}));
