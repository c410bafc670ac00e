// A state that a program sets twice.
// expect: state: a program sets it twice. FIX:
#include <tx/expr/state.hpp>
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

struct counted {
  tx::state<tx::tensor<float, 8>> seen;
  constexpr auto operator()(auto const& x) const {
    seen.set(seen + x);
    return x + seen;
  }
};
constexpr auto f = [](counted const& m, tx::tensor<float, 8> x) { return m(m(x)); };
static_assert(tx::function<f, counted>::memory.arena > 0);
