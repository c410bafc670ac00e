// Stands for cuBLASLt where there is none: what backends/cuda/blas.hpp asks of it, by one kernel in plain loops (product.cu), which the runner of device code runs as any other.
// It has three algorithms: one that takes a launch more than it needs, which it expects most of, one that does not, and one that does not run.
// Names and meanings are those of https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api: matrices lie by columns, D = alpha op(A) op(B) + beta C + bias, with alpha 1 and beta 1 or 0; a bias has D's type.
// Of E4M3 A is turned and B is not, in multiples of 16, and rows and columns of op(A) op(B) may have scales, which the search for a way has to be told of.
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_NOT_SUPPORTED = 15 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
enum cublasLtMatmulDescAttributes_t { CUBLASLT_MATMUL_DESC_TRANSA = 3, CUBLASLT_MATMUL_DESC_TRANSB = 4, CUBLASLT_MATMUL_DESC_EPILOGUE = 7, CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE = 10, CUBLASLT_MATMUL_DESC_FAST_ACCUM = 25, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18, CUBLASLT_MATMUL_DESC_A_SCALE_MODE = 31, CUBLASLT_MATMUL_DESC_B_SCALE_MODE = 32 };
enum cublasLtMatrixLayoutAttribute_t { CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6 };
#define CUBLAS_VERSION 120900
enum cublasLtMatmulMatrixScale_t { CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F = 0, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F = 3 };
enum cublasLtEpilogue_t { CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_BIAS = 4 };
enum cublasLtMatmulPreferenceAttributes_t {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8
};
struct cublasLtContext {};
struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  std::int8_t fast_sums = 0;
  cublasOperation_t turned[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void const* bias = nullptr;
  std::int64_t next_bias = 0;
  void const* scale[2] = {nullptr, nullptr};  // of rows and of columns of D
  std::int32_t scale_mode[2] = {0, 0};
};
struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType type;
  std::uint64_t rows, cols;
  std::int64_t apart;
  std::int32_t batch = 1;
  std::int64_t next = 0;
};
struct cublasLtMatmulPreferenceOpaque_t {};
struct cublasLtMatmulAlgo_t {
  std::uint64_t data[8];  // the first: its number
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo{};
  std::size_t workspaceSize = 0;
  cublasStatus_t state = CUBLAS_STATUS_SUCCESS;
};
using cublasLtHandle_t = cublasLtContext*;
using cublasLtMatmulDesc_t = cublasLtMatmulDescOpaque_t*;
using cublasLtMatrixLayout_t = cublasLtMatrixLayoutOpaque_t*;
using cublasLtMatmulPreference_t = cublasLtMatmulPreferenceOpaque_t*;

#define TX_STANDS_FOR_CUBLASLT 1
namespace stands_for_cublaslt {

inline constexpr std::uint64_t roundabout = 0, straight = 1, algorithms = 2;
cudaError_t start_nothing(cudaStream_t stream);  // a launch that the roundabout algorithm has beside the product

struct matrix {
  void const* data;
  cudaDataType type;
  std::int64_t apart;
  bool turned;
  std::int64_t next;  // elements to the next product's
  bool rounded = false;  // floats, to 11 bits
};
// to = a b + added, each [rows, depth] x [depth, cols], and to each column the `rows` elements of `bias`, where there are any: `batch` of them, started on a stream, by product.cu.
// Each sum is multiplied by its row's scale and by its column's first, where there are such.
cudaError_t start_product(matrix a, matrix b, matrix added, matrix bias, matrix to, float const* row_scales, float const* column_scales, std::int64_t rows, std::int64_t cols, std::int64_t depth, int batch,
                          cudaStream_t stream);

}  // namespace stands_for_cublaslt

inline char const* cublasLtGetStatusString(cublasStatus_t status) { return status == CUBLAS_STATUS_SUCCESS ? "success" : "invalid value"; }
inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static cublasLtContext one;
  *handle = &one;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* to, cublasComputeType_t compute, cudaDataType) {
  *to = new cublasLtMatmulDescOpaque_t{compute};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t to, cublasLtMatmulDescAttributes_t which, void const* value, std::size_t bytes) {
  auto const set = [&](void* attribute, std::size_t size) {
    if (bytes != size) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(attribute, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  if (which == CUBLASLT_MATMUL_DESC_EPILOGUE) return set(&to->epilogue, sizeof to->epilogue);
  if (which == CUBLASLT_MATMUL_DESC_BIAS_POINTER) return set(&to->bias, sizeof to->bias);
  if (which == CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE) return set(&to->next_bias, sizeof to->next_bias);
  if (which == CUBLASLT_MATMUL_DESC_FAST_ACCUM) return set(&to->fast_sums, sizeof to->fast_sums);  // its sums are f32's either way
  for (int side : {0, 1}) {
    if (which == CUBLASLT_MATMUL_DESC_A_SCALE_POINTER + side) return set(&to->scale[side], sizeof to->scale[side]);
    if (which == CUBLASLT_MATMUL_DESC_A_SCALE_MODE + side) return set(&to->scale_mode[side], sizeof to->scale_mode[side]);
  }
  return set(&to->turned[which == CUBLASLT_MATMUL_DESC_TRANSB], sizeof to->turned[0]);
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* to, cudaDataType type, std::uint64_t rows, std::uint64_t cols, std::int64_t apart) {
  if (apart < static_cast<std::int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *to = new cublasLtMatrixLayoutOpaque_t{type, rows, cols, apart};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t to, cublasLtMatrixLayoutAttribute_t which, void const* value, std::size_t bytes) {
  bool const counts = which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  if (bytes != (counts ? sizeof to->batch : sizeof to->next)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(counts ? static_cast<void*>(&to->batch) : &to->next, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* to) {
  *to = new cublasLtMatmulPreferenceOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
  delete p;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, void const*, std::size_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                                     cublasLtMatmulPreference_t, int asked, cublasLtMatmulHeuristicResult_t* all, int* count) {
  *count = 0;
  bool const of_e4m3 = a->type == CUDA_R_8F_E4M3;
  if (of_e4m3 != (b->type == CUDA_R_8F_E4M3)) return CUBLAS_STATUS_INVALID_VALUE;
  if (of_e4m3 && (product->turned[0] != CUBLAS_OP_T || product->turned[1] != CUBLAS_OP_N || a->rows % 16 != 0 || a->cols % 16 != 0 || a->apart % 16 != 0 || b->apart % 16 != 0 || d->apart % 16 != 0)) return CUBLAS_STATUS_INVALID_VALUE;
  for (int side : {0, 1})
    if (product->scale_mode[side] != 0 && (!of_e4m3 || product->scale_mode[side] != CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F || product->scale[side] == nullptr)) return CUBLAS_STATUS_INVALID_VALUE;
  for (; *count < asked && *count < 3; ++*count) {
    all[*count].algo.data[0] = static_cast<std::uint64_t>(*count);
    all[*count].state = all[*count].algo.data[0] < stands_for_cublaslt::algorithms ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulAlgo_t const* algorithm, cublasLtMatmulHeuristicResult_t*) {
  return algorithm->data[0] < stands_for_cublaslt::algorithms ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}
inline std::size_t cublasLtGetVersion() { return 0; }
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, void const*, void const* a, cublasLtMatrixLayout_t a_layout, void const* b, cublasLtMatrixLayout_t b_layout,
                                     void const* beta, void const* c, cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout, cublasLtMatmulAlgo_t const* algorithm, void* workspace, std::size_t,
                                     cudaStream_t stream) {
  if (algorithm->data[0] >= stands_for_cublaslt::algorithms) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (algorithm->data[0] == stands_for_cublaslt::roundabout && stands_for_cublaslt::start_nothing(stream) != cudaSuccess) return CUBLAS_STATUS_INVALID_VALUE;
  bool const a_turned = product->turned[0] == CUBLAS_OP_T, b_turned = product->turned[1] == CUBLAS_OP_T;
  std::uint64_t const rows = a_turned ? a_layout->cols : a_layout->rows, depth = a_turned ? a_layout->rows : a_layout->cols;
  std::uint64_t const cols = b_turned ? b_layout->rows : b_layout->cols;
  if (rows != d_layout->rows || cols != d_layout->cols || depth != (b_turned ? b_layout->cols : b_layout->rows)) return CUBLAS_STATUS_INVALID_VALUE;
  bool const adds = *static_cast<float const*>(beta) != 0;
  if (adds && (c_layout->rows != rows || c_layout->cols != cols)) return CUBLAS_STATUS_INVALID_VALUE;
  bool const biased = product->epilogue == CUBLASLT_EPILOGUE_BIAS;
  if (biased && product->bias == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (a_layout->batch != d_layout->batch || b_layout->batch != d_layout->batch || (adds && c_layout->batch != d_layout->batch)) return CUBLAS_STATUS_INVALID_VALUE;
  bool const rounded = product->compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  auto const status = stands_for_cublaslt::start_product({a, a_layout->type, a_layout->apart, a_turned, a_layout->next, rounded}, {b, b_layout->type, b_layout->apart, b_turned, b_layout->next, rounded},
                                                         {adds ? c : nullptr, c_layout->type, c_layout->apart, false, c_layout->next},
                                                         {biased ? product->bias : nullptr, d_layout->type, static_cast<std::int64_t>(rows), false, product->next_bias}, {d, d_layout->type, d_layout->apart, false, d_layout->next},
                                                         product->scale_mode[0] != 0 ? static_cast<float const*>(product->scale[0]) : nullptr, product->scale_mode[1] != 0 ? static_cast<float const*>(product->scale[1]) : nullptr,
                                                         static_cast<std::int64_t>(rows), static_cast<std::int64_t>(cols), static_cast<std::int64_t>(depth), d_layout->batch, stream);
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
