// The gradient by integers.
// expect: tx::tensor<int, 8>
// expect somewhere: tx::grad: integers have no gradient. FIX:
#include <tx/autodiff/grad.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/sum.hpp>

constexpr auto f = [](tx::tensor<int, 8> ids) { return tx::sum(tx::cast<float>(ids)); };
using result = decltype(tx::grad<f>(tx::tensor<int, 8>{}));
