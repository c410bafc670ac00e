// A product with a vector: it has no rows.
// expect: tx::tensor<float, 8, 128>, tx::tensor<float, 128>
// expect: matmul: both sides need at least two axes. FIX:
#include <tx/ops/matmul.hpp>

constexpr auto f = [](tx::tensor<float, 8, 128> x, tx::tensor<float, 128> v) { return matmul(x, v); };
using result = decltype(f({}, {}));
