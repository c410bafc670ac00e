// A function that hands back a number of C++.
// expect: tx: a result or carry is no tensor. FIX: a tensor, or a struct or std::tuple of tensors
#include <tx/ops/exp.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, 8>) { return 1.0f; };
using program = tx::function<f>;
static_assert(program::memory.arena > 0);
