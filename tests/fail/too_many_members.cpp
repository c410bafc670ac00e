// A module of more members than structured bindings are written out for.
// expect: tx: a module has at most 24 members. FIX: group some in a struct
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

using w = tx::param<tx::tensor<float, 1>>;
struct model {
  w a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, x, y, z;
};
constexpr auto f = [](model const& m) { return m.a + m.z; };
using program = tx::function<f, model>;
static_assert(program::memory.arena > 0);
