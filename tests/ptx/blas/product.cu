// The one kernel of what stands for cuBLASLt.
#include "cublasLt.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace stands_for_cublaslt {

static __device__ float element(matrix const& m, std::int64_t row, std::int64_t col) {
  std::int64_t const i = m.turned ? col + row * m.apart : row + col * m.apart;
  if (m.type == CUDA_R_16BF) return __bfloat162float(static_cast<__nv_bfloat16 const*>(m.data)[i]);
  if (m.type == CUDA_R_16F) return __half2float(static_cast<__half const*>(m.data)[i]);
  return static_cast<float const*>(m.data)[i];
}
static __global__ void multiply(matrix a, matrix b, matrix added, matrix bias, matrix to, std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows * cols; i += std::int64_t{gridDim.x} * blockDim.x) {
    std::int64_t const row = i % rows, col = i / rows;
    float sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) sum += element(a, row, k) * element(b, k, col);
    if (added.data != nullptr) sum += element(added, row, col);
    if (bias.data != nullptr) sum += element(bias, row, 0);
    std::int64_t const at = row + col * to.apart;
    void* const d = const_cast<void*>(to.data);
    if (to.type == CUDA_R_16BF) static_cast<__nv_bfloat16*>(d)[at] = __float2bfloat16(sum);
    else if (to.type == CUDA_R_16F) static_cast<__half*>(d)[at] = __float2half(sum);
    else static_cast<float*>(d)[at] = sum;
  }
}
cudaError_t start_product(matrix a, matrix b, matrix added, void const* bias, matrix to, std::int64_t rows, std::int64_t cols, std::int64_t depth, cudaStream_t stream) {
  multiply<<<64, 128, 0, stream>>>(a, b, added, {bias, to.type, rows, false}, to, rows, cols, depth);
  return cudaGetLastError();
}

}  // namespace stands_for_cublaslt
