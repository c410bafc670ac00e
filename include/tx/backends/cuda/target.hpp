// Programs for NVIDIA's GPUs, planned without one.
#pragma once

#include <tx/backends/device/target.hpp>

namespace tx {

inline constexpr target cuda_target = backends::device::with_own_kernels<backends::device::matrix_units::of_warps>("cuda");
inline constexpr target cuda_blas_target = backends::device::with_library<backends::device::matrix_units::of_warps>(cuda_target, "cuda_blas");

inline constexpr target cuda_blas_fp8_target = [] {
  target t = cuda_blas_target;
  t.name = "cuda_blas_fp8";
  t.multiplies_e4m3 = backends::device::multiplies_e4m3;
  return t;
}();

}  // namespace tx
