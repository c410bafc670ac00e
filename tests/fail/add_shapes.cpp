// Shapes that do not broadcast, in the expression that adds them.
// expect: tx::tensor<float, 8, 128>, tx::tensor<float, 64>
// expect: shapes do not broadcast
#include <tx/ops/add.hpp>

constexpr auto f = [](tx::tensor<float, 8, 128> x, tx::tensor<float, 64> b) { return x + b; };
using result = decltype(f({}, {}));
