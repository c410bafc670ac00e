// A state that is set to a tensor of another shape.
// expect: tx::state: it is set to a tensor of another element type or shape. FIX:
#include <tx/expr/state.hpp>
#include <tx/ops/sum.hpp>
#include <tx/step/function.hpp>

struct counted {
  tx::state<tx::tensor<float, 8>> seen;
};
constexpr auto f = [](counted const& m, tx::tensor<float, 8> x) {
  m.seen.set(tx::sum(x));
  return x;
};
static_assert(tx::function<f, counted>::memory.arena > 0);
