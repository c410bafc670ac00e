// Repeated blocks in the body of a scan, which would set their states in each of its iterations.
// expect: state: it is set in the body of a scan, which runs more than once. FIX:
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
constexpr auto f = [](stack const& m, tx::tensor<float, 8> x) { return tx::scan<2>([&](auto const& h) { return m.layers(h); }, x); };
static_assert(tx::function<f, stack>::memory.arena > 0);
