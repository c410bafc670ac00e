// Programs for AMD's GPUs, planned without one: whose matrix cores, if there are any, are not used, or are (`mfma`).
#pragma once

#include <tx/backends/device/target.hpp>

namespace tx {

inline constexpr target hip_target = backends::device::with_own_kernels<backends::device::matrix_units::none>("hip");
inline constexpr target hip_mfma_target = backends::device::with_own_kernels<backends::device::matrix_units::of_wavefronts>("hip_mfma");
inline constexpr target hip_blas_target = backends::device::with_library<backends::device::matrix_units::none>(hip_target, "hip_blas");
inline constexpr target hip_blas_mfma_target = backends::device::with_library<backends::device::matrix_units::of_wavefronts>(hip_mfma_target, "hip_blas_mfma");

}  // namespace tx
