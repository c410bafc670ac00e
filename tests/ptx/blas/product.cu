// The one kernel of what stands for cuBLASLt.
#include "cublasLt.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace stands_for_cublaslt {

static __device__ float element(matrix const& m, std::int64_t number, std::int64_t row, std::int64_t col) {
  std::int64_t const i = number * m.next + (m.turned ? col + row * m.apart : row + col * m.apart);
  if (m.type == CUDA_R_16BF) return __bfloat162float(static_cast<__nv_bfloat16 const*>(m.data)[i]);
  if (m.type == CUDA_R_16F) return __half2float(static_cast<__half const*>(m.data)[i]);
  if (m.type == CUDA_R_8F_E4M3) {
    unsigned const bits = static_cast<unsigned char const*>(m.data)[i], size = bits & 0x7f, sign = (bits & 0x80) << 24;
    if (size == 0x7f) return __uint_as_float(0x7fffffff);
    if (size < 8) return __uint_as_float(sign | __float_as_uint(static_cast<float>(size) * 0x1p-9f));
    return __uint_as_float(sign | ((size + 960) << 20));
  }
  float const x = static_cast<float const*>(m.data)[i];
  unsigned const bits = __float_as_uint(x);
  return m.rounded ? __uint_as_float((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu) : x;  // to the nearest, of finite ones
}
static __global__ void multiply(matrix a, matrix b, matrix added, matrix bias, matrix to, float const* row_scales, float const* column_scales, std::int64_t rows, std::int64_t cols, std::int64_t depth, int batch) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows * cols * batch; i += std::int64_t{gridDim.x} * blockDim.x) {
    std::int64_t const row = i % rows, col = i / rows % cols, n = i / rows / cols;
    float sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) sum += element(a, n, row, k) * element(b, n, k, col);
    if (row_scales != nullptr) sum *= row_scales[row];
    if (column_scales != nullptr) sum *= column_scales[col];
    if (added.data != nullptr) sum += element(added, n, row, col);
    if (bias.data != nullptr) sum += element(bias, n, row, 0);
    std::int64_t const at = n * to.next + row + col * to.apart;
    void* const d = const_cast<void*>(to.data);
    if (to.type == CUDA_R_16BF) static_cast<__nv_bfloat16*>(d)[at] = __float2bfloat16(sum);
    else if (to.type == CUDA_R_16F) static_cast<__half*>(d)[at] = __float2half(sum);
    else static_cast<float*>(d)[at] = sum;
  }
}
cudaError_t start_product(matrix a, matrix b, matrix added, matrix bias, matrix to, float const* row_scales, float const* column_scales, std::int64_t rows, std::int64_t cols, std::int64_t depth, int batch, cudaStream_t stream) {
  multiply<<<64, 128, 0, stream>>>(a, b, added, bias, to, row_scales, column_scales, rows, cols, depth, batch);
  return cudaGetLastError();
}

}  // namespace stands_for_cublaslt
