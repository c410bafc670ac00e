// How long programs take at least on NVIDIA's GPUs, for inspect/roofline.hpp; and the rates of devices that this has been measured on.
#pragma once

#include <tx/backends/cuda/target.hpp>
#include <tx/backends/device/kernel_cost.hpp>

namespace tx {

// A copy of 3,015 GB/s and products of 650 TFLOP/s were measured on an H100 (bench/results/h100.md); an H200 is that with memory of 4.8 TB/s in place of 3.35.
inline constexpr device_rates h100{"H100", 3.0e12, 6.5e14, 4.5e13, 1e-6};
inline constexpr device_rates h200{"H200", 4.3e12, 6.5e14, 4.5e13, 1e-6};

template <>
struct device_work<cuda_target> : backends::device::work<false, backends::device::matrix_units::of_warps> {};
template <>
struct device_work<cuda_blas_target> : backends::device::work<true, backends::device::matrix_units::of_warps> {};
template <>
struct device_work<cuda_blas_fp8_target> : backends::device::work<true, backends::device::matrix_units::of_warps> {};

}  // namespace tx
