// A setting with two first values.
// expect: setting: a name has two first values. FIX:
#include <tx/expr/setting.hpp>
#include <tx/ops/mul.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, 8> x) { return x * tx::setting<"factor">(x, 1) * tx::setting<"factor">(x, 2); };
static_assert(tx::function<f>::memory.arena > 0);
