// A program of more arguments than kernels can be told of.
// expect: a program has at most 22 arguments. FIX: pass fewer, larger tensors
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

using x = tx::tensor<float, 2>;
constexpr auto f = [](x a, x b, x c, x d, x e, x g, x h, x i, x j, x k, x l, x m, x n, x o, x p, x q, x r, x s, x t, x u, x v, x w, x y) {
  return a + b + c + d + e + g + h + i + j + k + l + m + n + o + p + q + r + s + t + u + v + w + y;
};
static_assert(tx::function<f>::memory.arena > 0);
