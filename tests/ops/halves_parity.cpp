// Values of all ops on bf16, fused; gradients, f16 and unfused programs are in thorough/.
#include "halves.hpp"

TEST_CASE("ops on bf16 are PyTorch's within their rounding, fused") {
  checked<tx::function<computed<tx::bf16>, arguments>>(torch_numbers{"halves"}, "bfloat16", 0x1p-8);
}
