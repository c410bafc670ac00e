// Blocks that are repeated twice in a program, and set their states each time.
// expect: state: a program sets it twice. FIX:
#include <tx/expr/repeat.hpp>
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

struct counted {
  tx::state<tx::tensor<float, 8>> seen;
  constexpr auto operator()(auto const& x) const {
    seen.set(seen + x);
    return x + seen;
  }
};
struct stack {
  tx::repeat<3, counted> layers;
};
constexpr auto f = [](stack const& m, tx::tensor<float, 8> x) { return m.layers(m.layers(x)); };
static_assert(tx::function<f, stack>::memory.arena > 0);
