// A repeat over a tensor of another leading extent than it has blocks.
// expect: tx::repeat: each block has a slice of what is in tx::each, which has another leading extent than there are blocks. FIX:
#include <tx/expr/repeat.hpp>
#include <tx/ops/mul.hpp>
#include <tx/step/function.hpp>

struct block {
  tx::param<tx::tensor<float, 8>> scale;
  constexpr auto operator()(auto const& x, auto const& y) const { return x * scale + y; }
};
struct model {
  tx::repeat<2, block> layer;
};
constexpr auto f = [](model const& m, tx::tensor<float, 8> x, tx::tensor<float, 3, 8> ys) { return m.layer(x, tx::each(ys)); };
using result = decltype(f({}, {}, {}));
