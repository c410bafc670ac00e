// A repeated block that hands back another shape than it was given.
// expect: tx::repeat: a block must return a tensor of the element type and shape it was given
#include <tx/nn/linear.hpp>
#include <tx/step/function.hpp>

struct block {
  tx::nn::linear<8, 4> narrow;
  constexpr auto operator()(auto const& x) const { return narrow(x); }
};
struct model {
  tx::repeat<2, block> layer;
};
constexpr auto f = [](model const& m, tx::tensor<float, 4, 8> x) { return m.layer(x); };
using result = decltype(f({}, {}));
