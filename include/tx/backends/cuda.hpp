// The CUDA backend: kernels generated for NVIDIA's GPUs. A source that the host's compiler reads starts kernels that nvcc compiles elsewhere
// (cmake/TxDeviceSource.cmake); one that nvcc reads has them too.
#pragma once

#include <tx/backends/device/backend.hpp>
#include <tx/backends/cuda/gpu.hpp>
#if defined(__CUDACC__)
#include <tx/backends/cuda/device_code.hpp>
#endif

namespace tx {

struct cuda : backends::device::backend<backends::cuda::gpu, cuda_target> {};

}  // namespace tx
