// An op of floating-point numbers that is given integers.
// expect: tx::tensor<int, 8>
// expect: this op needs floating-point elements. FIX: cast<tx::f32>(x) first
#include <tx/ops/exp.hpp>

constexpr auto f = [](tx::tensor<tx::i32, 8> x) { return tx::exp(x); };
using result = decltype(f({}));
