// Operands of two element types.
// expect: tx::tensor<float, 8>, tx::tensor<double, 8>
// expect: element types differ
#include <tx/ops/mul.hpp>

constexpr auto f = [](tx::tensor<float, 8> x, tx::tensor<double, 8> y) { return x * y; };
using result = decltype(f({}, {}));
