// A sum over ranks of halves, whose rounding would depend on the number of ranks.
// expect: all_reduce: sums are of floating-point numbers. FIX: cast<tx::f32>(x)
#include <tx/dist/all_reduce.hpp>
#include <tx/expr/tensor.hpp>
#include <tx/ops/lift.hpp>

constexpr auto f = [](tx::tensor<tx::bf16, 8> x) { return tx::all_reduce(x); };
using result = decltype(f({}));
