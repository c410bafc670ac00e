// A device of AMD's with products by hipBLASLt: https://rocm.docs.amd.com/projects/hipBLASLt. Programs link hipblaslt. It has run on no device so far.
// That is cuBLASLt under other names, without some things: a preference for matrices that are aligned less, a distance between the rows that products of a batch
// are added, and a check of an algorithm that was kept (so TX_CUDA_ALGORITHMS is not for it).
#pragma once

#include <tx/backends/device/library_products.hpp>

#if !defined(__HIPCC__) && !defined(__HIP_PLATFORM_AMD__)
#define __HIP_PLATFORM_AMD__ 1
#endif
#if !__has_include(<hipblaslt/hipblaslt.h>)
#error "tx/backends/hip_blas.hpp needs the headers of hipBLASLt. FIX: install hipblaslt of ROCm 6.1 or newer, or use <tx/backends/hip.hpp>"
#endif

#include <hip/hip_runtime_api.h>
#include <hipblaslt/hipblaslt.h>

#include <array>
#include <string>

namespace tx::backends::hip {

// By the names of device/library_products.hpp.
struct hipblaslt {
  static constexpr char const* name = "hip: hipBLASLt";
  using status = hipblasStatus_t;
  using handle = hipblasLtHandle_t;
  using product = hipblasLtMatmulDesc_t;
  using product_attribute = hipblasLtMatmulDescAttributes_t;
  using matrix = hipblasLtMatrixLayout_t;
  using preference = hipblasLtMatmulPreference_t;
  using algorithm = hipblasLtMatmulAlgo_t;
  using result = hipblasLtMatmulHeuristicResult_t;

  static constexpr status success = HIPBLAS_STATUS_SUCCESS;
  static constexpr hipblasOperation_t straight = HIPBLAS_OP_N, turned = HIPBLAS_OP_T;
  static constexpr product_attribute turns_right = HIPBLASLT_MATMUL_DESC_TRANSA, turns_left = HIPBLASLT_MATMUL_DESC_TRANSB, ends_with = HIPBLASLT_MATMUL_DESC_EPILOGUE, row_at = HIPBLASLT_MATMUL_DESC_BIAS_POINTER;
  static constexpr hipblasLtEpilogue_t added_row = HIPBLASLT_EPILOGUE_BIAS;
  static constexpr hipblasLtMatrixLayoutAttribute_t batch_of = HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, next_at = HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET;
  static constexpr hipblasLtMatmulPreferenceAttributes_t most_workspace = HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
  static constexpr std::array<hipblasLtMatmulPreferenceAttributes_t, 0> alignments{};
  static constexpr bool multiplies_e4m3 = false;

  // A batch whose products have a row each is started one by one. Products of floats of 11 bits are not asked for, as few of its devices have them.
  static bool takes(device::library_key const& s) { return s.type != dtype::e4m3 && !s.tf32 && !(s.adds_row && s.batch > 1); }

  static std::string text(status s) { return "hipblasStatus_t " + std::to_string(static_cast<int>(s)); }  // hipBLAS alone has their names
  static status begin(handle* h) { return hipblasLtCreate(h); }
  static status make(product* p, bool) { return hipblasLtMatmulDescCreate(p, HIPBLAS_COMPUTE_32F, HIP_R_32F); }
  static status make(matrix* m, dtype d, std::uint64_t rows, std::uint64_t columns, std::int64_t apart) { return hipblasLtMatrixLayoutCreate(m, named(d), rows, columns, apart); }
  static status make(preference* p) { return hipblasLtMatmulPreferenceCreate(p); }
  static void destroy(preference p) { static_cast<void>(hipblasLtMatmulPreferenceDestroy(p)); }
  static status set(product p, product_attribute a, void const* to, std::size_t bytes) { return hipblasLtMatmulDescSetAttribute(p, a, to, bytes); }
  static status set(matrix m, hipblasLtMatrixLayoutAttribute_t a, void const* to, std::size_t bytes) { return hipblasLtMatrixLayoutSetAttribute(m, a, to, bytes); }
  static status set(preference p, hipblasLtMatmulPreferenceAttributes_t a, void const* to, std::size_t bytes) { return hipblasLtMatmulPreferenceSetAttribute(p, a, to, bytes); }
  static status find(handle h, product p, matrix a, matrix b, matrix c, matrix d, preference by, int most, result* some, int* count) {
    status const found = hipblasLtMatmulAlgoGetHeuristic(h, p, a, b, c, d, by, most, some, count);
    return found == success && *count > 0 ? some[0].state : found;
  }
  static status multiply(handle h, product p, void const* alpha, void const* a, matrix of_a, void const* b, matrix of_b, void const* beta, void const* c, matrix of_c, void* d, matrix of_d,
                         algorithm const* by, void* workspace, std::size_t bytes, hipStream_t stream) {
    return hipblasLtMatmul(h, p, alpha, a, of_a, b, of_b, beta, c, of_c, d, of_d, by, workspace, bytes, stream);
  }

  // Where it lies is said before algorithms are looked for, so that those add one whatever the version makes of a bias that lies nowhere.
  template <class Describe>
  static void describe_row(Describe const& describe, device::library_key const& s, device::library_product const& p) {
    describe(HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, named(s.to_type));
    describe(row_at, p.row);
  }

 private:
  static hipDataType named(dtype d) { return d == dtype::bf16 ? HIP_R_16BF : d == dtype::f16 ? HIP_R_16F : HIP_R_32F; }
};

// What Device starts beside its products goes to the same stream.
template <class Device>
struct gpu_with_blas : Device {
  static bool multiply(device::library_product const& p) { return device::library_products<Device, hipblaslt>::multiply(p); }
};

}  // namespace tx::backends::hip
