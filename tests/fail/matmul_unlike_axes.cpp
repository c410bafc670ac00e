// A product of stacks of matrices with unlike numbers of axes.
// expect: matmul: the sides have unlike numbers of axes, and the right one is no matrix. FIX: broadcast_to the same leading axes
#include <tx/ops/matmul.hpp>

constexpr auto f = [](tx::tensor<float, 2, 3, 4, 5> a, tx::tensor<float, 3, 5, 6> b) { return matmul(a, b); };
using result = decltype(f({}, {}));
