// A loss of a column and a row, which broadcasting would make a matrix of.
// expect: tx::tensor<float, 8, 1>, tx::tensor<float, 8>
// expect: a loss compares tensors of one shape
#include <tx/ops/mse.hpp>

constexpr auto f = [](tx::tensor<float, 8, 1> x, tx::tensor<float, 8> y) { return tx::mse(x, y); };
using result = decltype(f({}, {}));
