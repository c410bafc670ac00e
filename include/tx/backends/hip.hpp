// The HIP backend: the same generated kernels for AMD's GPUs. For sources that hipcc compiles, one of a program.
#pragma once

#include <tx/backends/cuda/backend.hpp>
#include <tx/backends/hip/gpu.hpp>

namespace tx {

struct hip : backends::cuda::backend<backends::hip::gpu> {
  static constexpr tx::target const& target = hip_target;
};

}  // namespace tx
