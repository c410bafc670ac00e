// The HIP backend with products by hipBLASLt: those that are worth a call, all others by kernels of its own. For programs that link hipblaslt. It has run on no device so far.
#pragma once

#include <tx/backends/hip.hpp>
#include <tx/backends/hip/blas.hpp>

namespace tx {

struct hip_blas : backends::device::backend<backends::hip::gpu_with_blas<backends::hip::gpu>, hip_blas_target> {};

// Of processors with matrix cores: products of bf16 that the library is not asked for run on those, too.
struct hip_blas_mfma : backends::device::backend<backends::hip::gpu_with_blas<backends::hip::mfma_gpu>, hip_blas_mfma_target> {};

}  // namespace tx
