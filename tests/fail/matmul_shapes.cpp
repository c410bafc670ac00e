// A product whose inner extents differ.
// expect: tx::tensor<float, 8, 128>, tx::tensor<float, 64, 32>
// expect: matmul: the last extent of the left side is not the last but one of the right side
#include <tx/ops/matmul.hpp>

constexpr auto f = [](tx::tensor<float, 8, 128> x, tx::tensor<float, 64, 32> w) { return matmul(x, w); };
using result = decltype(f({}, {}));
