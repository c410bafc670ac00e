// A sum over ranks of integers.
// expect: all_reduce: sums are of floating-point numbers. FIX: cast<tx::f32>(x)
#include <tx/dist/all_reduce.hpp>
#include <tx/expr/tensor.hpp>
#include <tx/ops/lift.hpp>

constexpr auto f = [](tx::tensor<tx::i32, 8> x) { return tx::all_reduce(x); };
using result = decltype(f({}));
