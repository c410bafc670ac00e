// cuBLASLt by the names that library_products.hpp has for such a library: https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api. hip/blas.hpp has those of hipBLASLt.
#pragma once

#include <tx/backends/device/library.hpp>
#include <tx/backends/device/measured_products.hpp>

#include <cublasLt.h>

#include <array>

namespace tx::backends::cuda {

struct cublaslt {
  static constexpr char const* name = "cuda: cuBLASLt";
  using status = cublasStatus_t;
  using handle = cublasLtHandle_t;
  using product = cublasLtMatmulDesc_t;
  using product_attribute = cublasLtMatmulDescAttributes_t;
  using matrix = cublasLtMatrixLayout_t;
  using preference = cublasLtMatmulPreference_t;
  using algorithm = cublasLtMatmulAlgo_t;
  using result = cublasLtMatmulHeuristicResult_t;

  static constexpr status success = CUBLAS_STATUS_SUCCESS;
  static constexpr cublasOperation_t straight = CUBLAS_OP_N, turned = CUBLAS_OP_T;
  static constexpr product_attribute turns_right = CUBLASLT_MATMUL_DESC_TRANSA, turns_left = CUBLASLT_MATMUL_DESC_TRANSB, ends_with = CUBLASLT_MATMUL_DESC_EPILOGUE, row_at = CUBLASLT_MATMUL_DESC_BIAS_POINTER;
  static constexpr product_attribute right_scales_at = CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, left_scales_at = CUBLASLT_MATMUL_DESC_B_SCALE_POINTER;
  static constexpr cublasLtEpilogue_t added_row = CUBLASLT_EPILOGUE_BIAS;
  static constexpr cublasLtMatrixLayoutAttribute_t batch_of = CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, next_at = CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET;
  static constexpr cublasLtMatmulPreferenceAttributes_t most_workspace = CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
  static constexpr std::array alignments{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  static constexpr bool multiplies_e4m3 = true;

  // E4M3: both sides depth by depth.
  static bool takes(device::library_key const& s) { return s.type != dtype::e4m3 || (s.right.turned && !s.left.turned); }

  static char const* text(status s) { return cublasLtGetStatusString(s); }
  static status begin(handle* h) { return cublasLtCreate(h); }
  static status make(product* p, bool tf32) { return cublasLtMatmulDescCreate(p, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F); }
  static status make(matrix* m, dtype d, std::uint64_t rows, std::uint64_t columns, std::int64_t apart) { return cublasLtMatrixLayoutCreate(m, named(d), rows, columns, apart); }
  static status make(preference* p) { return cublasLtMatmulPreferenceCreate(p); }
  static void destroy(preference p) { cublasLtMatmulPreferenceDestroy(p); }
  static status set(product p, product_attribute a, void const* to, std::size_t bytes) { return cublasLtMatmulDescSetAttribute(p, a, to, bytes); }
  static status set(matrix m, cublasLtMatrixLayoutAttribute_t a, void const* to, std::size_t bytes) { return cublasLtMatrixLayoutSetAttribute(m, a, to, bytes); }
  static status set(preference p, cublasLtMatmulPreferenceAttributes_t a, void const* to, std::size_t bytes) { return cublasLtMatmulPreferenceSetAttribute(p, a, to, bytes); }
  static status find(handle h, product p, matrix a, matrix b, matrix c, matrix d, preference by, int most, result* some, int* count) {
    return cublasLtMatmulAlgoGetHeuristic(h, p, a, b, c, d, by, most, some, count);
  }
  static status multiply(handle h, product p, void const* alpha, void const* a, matrix of_a, void const* b, matrix of_b, void const* beta, void const* c, matrix of_c, void* d, matrix of_d,
                         algorithm const* by, void* workspace, std::size_t bytes, cudaStream_t stream) {
    return cublasLtMatmul(h, p, alpha, a, of_a, b, of_b, beta, c, of_c, d, of_d, by, workspace, bytes, stream);
  }

  // Each product of a batch has a row of its own.
  template <class Describe>
  static void describe_row(Describe const& describe, device::library_key const& s, device::library_product const&) {
    if (s.batch > 1) describe(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, s.next_row);
  }
  template <class Describe>
  static void describe_e4m3(Describe const& describe) {
    std::int8_t const fast_sums = 0;  // sums go to f32 as often as the device can
    describe(CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast_sums);
  }
  // A number for each row of results and one for each column, where the library has such: https://docs.nvidia.com/cuda/cublas/#outer-vector-scaling-for-fp8-data-types
  static bool has_scales([[maybe_unused]] product p) {
#if CUBLAS_VERSION >= 120900
    std::int32_t const each = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    return set(p, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &each, sizeof each) == success && set(p, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &each, sizeof each) == success;
#else
    return false;
#endif
  }

 private:
  static cudaDataType_t named(dtype d) { return d == dtype::bf16 ? CUDA_R_16BF : d == dtype::f16 ? CUDA_R_16F : d == dtype::e4m3 ? CUDA_R_8F_E4M3 : CUDA_R_32F; }
};

}  // namespace tx::backends::cuda
