// The CUDA backend with products by cuBLASLt: those that are worth a call, all others by kernels of its own. For programs that link cublasLt.
#pragma once

#include <tx/backends/cuda.hpp>
#include <tx/backends/cuda/blas.hpp>

namespace tx {

struct cuda_blas : cuda {
  static constexpr tx::target const& target = cuda_blas_target;
  using device = backends::cuda::gpu_with_blas;
  template <class Signature>
  using kernel = backends::cuda::kernel<device, Signature>;
};

}  // namespace tx
