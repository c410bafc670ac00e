// The HIP backend: the same generated kernels for AMD's GPUs. Who compiles it: as of tx/backends/cuda.hpp.
#pragma once

#include <tx/backends/device/backend.hpp>
#include <tx/backends/hip/gpu.hpp>
#if defined(__HIPCC__)
#include <tx/backends/hip/device_code.hpp>
#endif

namespace tx {

struct hip : backends::device::backend<backends::hip::gpu, hip_target> {};

// Of processors with matrix cores (gfx90a, gfx94*, gfx95*): products of bf16 run on those.
struct hip_mfma : backends::device::backend<backends::hip::mfma_gpu, hip_mfma_target> {};

}  // namespace tx
