// NVIDIA's GPUs with products by cuBLASLt. Programs link cublasLt.
#pragma once

#include <tx/backends/cuda/cublaslt.hpp>
#include <tx/backends/cuda/gpu.hpp>
#include <tx/backends/cuda/kept_choice.hpp>
#include <tx/backends/device/kernels.hpp>
#include <tx/backends/device/library_products.hpp>

namespace tx::backends::cuda {

// Tf32: products of floats are of floats rounded to 11 bits (https://docs.nvidia.com/cuda/cublas/#cublascomputetype-t), on units for matrices.
template <bool Tf32>
struct gpu_with_blas : gpu {
  static bool multiply(device::library_product const& p) { return device::library_products<gpu, cublaslt, kept_choice>::multiply(p, Tf32); }
};

}  // namespace tx::backends::cuda
