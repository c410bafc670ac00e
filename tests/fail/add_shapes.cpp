// Shapes that do not broadcast, in the expression that adds them.
// within 10 lines
// expect: shapes do not broadcast: aligned at the right, extents must be equal or 1. FIX: reshape or transpose an operand
// expect somewhere: tensor<float, 8, 128>
// expect somewhere: tensor<float, 64>
// expect somewhere: add_shapes.cpp:9:
#include <tx/ops/add.hpp>

constexpr auto f = [](tx::tensor<float, 8, 128> x, tx::tensor<float, 64> b) { return x + b; };
using result = decltype(f({}, {}));
