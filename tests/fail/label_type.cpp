// Labels that are no integers.
// expect: tx::tensor<float, 4, 10>, tx::tensor<float, 4>
// expect: cross_entropy, nll: labels must be integers. FIX: tensor<tx::i32, ...>
#include <tx/ops/cross_entropy.hpp>

constexpr auto f = [](tx::tensor<float, 4, 10> x, tx::tensor<float, 4> label) { return tx::cross_entropy(x, label); };
using result = decltype(f({}, {}));
