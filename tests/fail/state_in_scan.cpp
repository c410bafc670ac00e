// A state that the body of a scan sets.
// expect: state: it is set in the body of a scan, which runs more than once. FIX:
#include <tx/expr/scan.hpp>
#include <tx/expr/state.hpp>
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

struct counted {
  tx::state<tx::tensor<float, 8>> seen;
};
constexpr auto f = [](counted const& m, tx::tensor<float, 8> x) {
  return tx::scan<3>([&](auto const& h) {
    m.seen.set(m.seen + h);
    return h + x;
  }, x);
};
static_assert(tx::function<f, counted>::memory.arena > 0);
