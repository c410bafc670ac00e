// A repeated block that is given a struct and hands back a tuple.
// expect: tx::repeat: a block must return a carry of the type it was given, alone or as scanned{carry, out}. FIX:
#include <tx/expr/repeat.hpp>
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

struct memory {
  tx::tensor<float, 8> hidden, cell;
};
struct block {
  tx::param<tx::tensor<float, 8>> shift;
  constexpr auto operator()(memory const& m) const { return std::tuple{m.hidden + shift, m.cell}; }
};
struct model {
  tx::repeat<2, block> layer;
};
constexpr auto f = [](model const& m, tx::tensor<float, 8> x) { return m.layer(memory{x, x}); };
using result = decltype(f({}, {}));
