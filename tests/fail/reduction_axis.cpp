// A sum over an axis that the tensor does not have.
// expect: tx::tensor<float, 8, 128>
// expect: reduction: the tensor has no such axis. FIX:
#include <tx/ops/sum.hpp>

constexpr auto f = [](tx::tensor<float, 8, 128> x) { return tx::sum<2>(x); };
using result = decltype(f({}));
