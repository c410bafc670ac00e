// The second derivative of a function of a vector is a matrix: it is asked for along a vector.
// expect: tx::grad: the function returns no floating-point scalar. FIX:
#include <tx/autodiff/grad.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, 8> x) { return tx::sum(x * x * x); };
static_assert(tx::function<tx::grad<tx::grad<f>>>::memory.peak > 0);
