// Gradients of ops on bf16 with a kernel for each, and on f16 fused and not.
#include "../halves.hpp"

TEST_CASE("ops on bf16 and their gradients are PyTorch's within their rounding, a kernel for each op") {
  check_gradients<tx::bf16, unfused>("bfloat16", 0x1p-8);
}

TEST_CASE("ops on f16 and their gradients are PyTorch's within their rounding, fused") {
  check_gradients<tx::f16, tx::compile_options{}>("float16", 0x1p-11);
}

TEST_CASE("ops on f16 and their gradients are PyTorch's within their rounding, a kernel for each op") {
  check_gradients<tx::f16, unfused>("float16", 0x1p-11);
}
