// A repeated block that gives away a number, which is no tensor.
// expect: tx::scan, tx::repeat: what an iteration gives away is no tensor. FIX:
#include <tx/expr/repeat.hpp>
#include <tx/ops/mul.hpp>
#include <tx/step/function.hpp>

struct block {
  tx::param<tx::tensor<float, 8>> scale;
  constexpr auto operator()(auto const& x) const { return tx::scanned{x * scale, 3.0}; }
};
struct model {
  tx::repeat<2, block> layer;
};
constexpr auto f = [](model const& m, tx::tensor<float, 8> x) { return m.layer(x); };
using result = decltype(f({}, {}));
