// A product whose inner extents differ.
// within 10 lines
// expect: matmul: the last extent of the left side is not the last but one of the right side. FIX: make them equal, or transpose a side
// expect somewhere: tensor<float, 8, 128>
// expect somewhere: tensor<float, 64, 32>
// expect somewhere: matmul_shapes.cpp:9:
#include <tx/ops/matmul.hpp>

constexpr auto f = [](tx::tensor<float, 8, 128> x, tx::tensor<float, 64, 32> w) { return matmul(x, w); };
using result = decltype(f({}, {}));
