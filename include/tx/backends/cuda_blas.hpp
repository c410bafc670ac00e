// The CUDA backend with products by cuBLASLt: those that are worth a call, all others by kernels of its own. For programs that link cublasLt.
#pragma once

#include <tx/backends/cuda.hpp>
#include <tx/backends/cuda/blas.hpp>

namespace tx {

struct cuda_blas : backends::device::backend<backends::cuda::gpu_with_blas<false>, cuda_blas_target> {};

// Whose products of floats round both sides to 11 bits, as PyTorch does with torch.backends.cuda.matmul.allow_tf32: several times as fast on units for matrices.
// Products that the library is not asked for are as exact as ever.
struct cuda_blas_tf32 : backends::device::backend<backends::cuda::gpu_with_blas<true>, cuda_blas_target> {};

// Whose products by parameters are of E4M3 where a program asks for that (mixed<e4m3>), on devices that have units for such: compute capability 8.9 or more. The other
// backends multiply the same numbers as halves, and add them in f32; such units may add some of them with fewer bits first (arXiv 2412.19437, section 3.3.2, tells of about 14 on an H800).
struct cuda_blas_fp8 : backends::device::backend<backends::cuda::gpu_with_blas<false>, cuda_blas_fp8_target> {};

}  // namespace tx
