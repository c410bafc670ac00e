// Values of all ops on bf16, fused, and values and gradients on f16, unfused; the other two pairs are in thorough/.
#include "halves.hpp"

TEST_CASE("ops on bf16 are PyTorch's within their rounding, fused") {
  checked<tx::function<computed<tx::bf16>, arguments>>(torch_numbers{"halves"}, "bfloat16", 0x1p-8);
}

TEST_CASE("ops on f16 and their gradients are PyTorch's within their rounding, a kernel for each op") {
  check_gradients<tx::f16, unfused>("float16", 0x1p-11);
}
