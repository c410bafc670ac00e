// The CUDA backend: kernels generated for NVIDIA's GPUs. For sources that nvcc compiles, one of a program.
#pragma once

#include <tx/backends/cuda/backend.hpp>
#include <tx/backends/cuda/gpu.hpp>

namespace tx {

struct cuda : backends::cuda::backend<backends::cuda::gpu> {
  static constexpr tx::target const& target = cuda_target;
};

}  // namespace tx
