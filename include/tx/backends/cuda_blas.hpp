// The CUDA backend with products by cuBLASLt: those that are worth a call, all others by kernels of its own. For programs that link cublasLt.
#pragma once

#include <tx/backends/cuda.hpp>
#include <tx/backends/cuda/blas.hpp>

namespace tx {

struct cuda_blas : backends::cuda::backend<backends::cuda::gpu_with_blas> {
  static constexpr tx::target const& target = cuda_blas_target;
};

}  // namespace tx
