// Stands for hipBLASLt where there is none: what backends/hip/blas.hpp asks of it, in plain loops on the host, at once whatever the stream. Names, numbers, types and
// sizes are those of https://github.com/ROCm/hipBLASLt/blob/develop/library/include/hipblaslt/hipblaslt.h and of hipblas-common.h of ROCm 6.3, but for what descriptions
// hold, which there is opaque: matrices lie by columns, D = alpha op(A) op(B) + beta C + bias, with alpha 1 and beta 1 or 0. It refuses what it is not told in full.
// The same bias is added to each product of a batch, as there is no distance between such.
#pragma once

#include <hip/hip_runtime_api.h>
#if !defined(TX_STANDS_FOR_HIP)
#include <hip/hip_version.h>
#include <hip/library_types.h>
#if HIP_VERSION_MAJOR < 6
#define HIP_R_16BF std::bit_cast<hipDataType>(14)  // for compilers to see: a HIP that knows no type of bf16 has no hipBLASLt
#endif
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>

#define TX_STANDS_FOR_HIPBLASLT 1

enum hipblasStatus_t {
  HIPBLAS_STATUS_SUCCESS = 0,
  HIPBLAS_STATUS_NOT_INITIALIZED = 1,
  HIPBLAS_STATUS_ALLOC_FAILED = 2,
  HIPBLAS_STATUS_INVALID_VALUE = 3,
  HIPBLAS_STATUS_MAPPING_ERROR = 4,
  HIPBLAS_STATUS_EXECUTION_FAILED = 5,
  HIPBLAS_STATUS_INTERNAL_ERROR = 6,
  HIPBLAS_STATUS_NOT_SUPPORTED = 7
};
enum hipblasOperation_t { HIPBLAS_OP_N = 111, HIPBLAS_OP_T = 112 };
enum hipblasComputeType_t { HIPBLAS_COMPUTE_32F = 2 };
enum hipblasLtEpilogue_t { HIPBLASLT_EPILOGUE_DEFAULT = 1, HIPBLASLT_EPILOGUE_BIAS = 4 };
enum hipblasLtMatrixLayoutAttribute_t { HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 0, HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 1 };
enum hipblasLtMatmulDescAttributes_t {
  HIPBLASLT_MATMUL_DESC_TRANSA = 0,
  HIPBLASLT_MATMUL_DESC_TRANSB = 1,
  HIPBLASLT_MATMUL_DESC_EPILOGUE = 2,
  HIPBLASLT_MATMUL_DESC_BIAS_POINTER = 3,
  HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 4
};
enum hipblasLtMatmulPreferenceAttributes_t { HIPBLASLT_MATMUL_PREF_SEARCH_MODE = 0, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };

struct hipblasLtMatmulDescOpaque_t {
  std::int32_t turned[2] = {HIPBLAS_OP_N, HIPBLAS_OP_N};
  std::uint32_t epilogue = HIPBLASLT_EPILOGUE_DEFAULT;
  void const* bias = nullptr;
  std::int32_t bias_type = 255;
};
struct hipblasLtMatrixLayoutOpaque_t {
  hipDataType type;
  std::uint64_t rows, cols;
  std::int64_t apart;
  std::int32_t batch = 1;
  std::int64_t next = 0;
};
struct hipblasLtMatmulPreferenceOpaque_t {
  std::uint64_t workspace = 0;
};
using hipblasLtHandle_t = void*;
using hipblasLtMatmulDesc_t = hipblasLtMatmulDescOpaque_t*;
using hipblasLtMatrixLayout_t = hipblasLtMatrixLayoutOpaque_t*;
using hipblasLtMatmulPreference_t = hipblasLtMatmulPreferenceOpaque_t*;
struct hipblasLtMatmulAlgo_t {
  std::uint8_t data[16] = {0};
  std::size_t max_workspace_bytes = 0;
};
struct hipblasLtMatmulHeuristicResult_t {
  hipblasLtMatmulAlgo_t algo;
  std::size_t workspaceSize = 0;
  hipblasStatus_t state = HIPBLAS_STATUS_SUCCESS;
  float wavesCount = 1.0;
  int reserved[4];
};

namespace stands_for_hipblaslt {

// What tests count, and a rule of theirs: results of another type than the sides' have no algorithm, as in versions without such.
inline int searches = 0, products = 0, batches = 0, biased = 0, added = 0;
inline bool only_of_one_type = false;

// Descriptions that nobody destroys, to the end of the process.
template <class T>
T* kept(T const& made) {
  static std::deque<T> all;
  return &all.emplace_back(made);
}

inline constexpr std::uint8_t algorithm = 42;
inline constexpr std::size_t workspace = 1 << 20;  // that it needs, all of which it writes

inline float element(void const* data, hipDataType type, std::int64_t i) {
  if (type == HIP_R_32F) return static_cast<float const*>(data)[i];
  std::uint16_t bits;
  std::memcpy(&bits, static_cast<char const*>(data) + 2 * i, 2);
  if (type == HIP_R_16BF) return std::bit_cast<float>(std::uint32_t{bits} << 16);
  std::uint32_t const sign = (bits & 0x8000u) << 16, size = bits & 0x7fffu;
  if (size >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000u | (size & 0x3ffu) << 13);
  if (size < 0x400) return (sign != 0 ? -1.0f : 1.0f) * static_cast<float>(size) * 0x1p-24f;
  return std::bit_cast<float>(sign | ((size + (112u << 10)) << 13));
}
// To the nearest, to even ones halfway; of finite numbers that f16 holds.
inline void put(void* data, hipDataType type, std::int64_t i, float x) {
  if (type == HIP_R_32F) {
    static_cast<float*>(data)[i] = x;
    return;
  }
  auto const all = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const sign = all >> 16 & 0x8000u, size = all & 0x7fffffffu;
  std::uint32_t bits = (all + 0x7fffu + (all >> 16 & 1u)) >> 16;
  if (type == HIP_R_16F) {
    if (size >= 113u << 23) bits = sign | (((size + 0xfffu + (size >> 13 & 1u)) >> 13) - (112u << 10));
    else bits = sign | (std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000u);  // of multiples of 2^-24, as 0.5 has
  }
  auto const half = static_cast<std::uint16_t>(bits);
  std::memcpy(static_cast<char*>(data) + 2 * i, &half, 2);
}

}  // namespace stands_for_hipblaslt

inline hipblasStatus_t hipblasLtCreate(hipblasLtHandle_t* handle) {
  static int one;
  *handle = &one;
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatmulDescCreate(hipblasLtMatmulDesc_t* matmulDesc, hipblasComputeType_t computeType, hipDataType scaleType) {
  if (computeType != HIPBLAS_COMPUTE_32F || scaleType != HIP_R_32F) return HIPBLAS_STATUS_INVALID_VALUE;
  *matmulDesc = stands_for_hipblaslt::kept(hipblasLtMatmulDescOpaque_t{});
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatmulDescSetAttribute(hipblasLtMatmulDesc_t matmulDesc, hipblasLtMatmulDescAttributes_t attr, void const* buf, std::size_t sizeInBytes) {
  auto const set = [&](void* attribute, std::size_t size) {
    if (sizeInBytes != size) return HIPBLAS_STATUS_INVALID_VALUE;
    std::memcpy(attribute, buf, size);
    return HIPBLAS_STATUS_SUCCESS;
  };
  switch (attr) {
    case HIPBLASLT_MATMUL_DESC_TRANSA: return set(&matmulDesc->turned[0], sizeof matmulDesc->turned[0]);
    case HIPBLASLT_MATMUL_DESC_TRANSB: return set(&matmulDesc->turned[1], sizeof matmulDesc->turned[1]);
    case HIPBLASLT_MATMUL_DESC_EPILOGUE: return set(&matmulDesc->epilogue, sizeof matmulDesc->epilogue);
    case HIPBLASLT_MATMUL_DESC_BIAS_POINTER: return set(&matmulDesc->bias, sizeof matmulDesc->bias);
    case HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return set(&matmulDesc->bias_type, sizeof matmulDesc->bias_type);
  }
  return HIPBLAS_STATUS_INVALID_VALUE;
}
inline hipblasStatus_t hipblasLtMatrixLayoutCreate(hipblasLtMatrixLayout_t* matLayout, hipDataType type, std::uint64_t rows, std::uint64_t cols, std::int64_t ld) {
  if (ld < static_cast<std::int64_t>(rows)) return HIPBLAS_STATUS_INVALID_VALUE;
  *matLayout = stands_for_hipblaslt::kept(hipblasLtMatrixLayoutOpaque_t{type, rows, cols, ld});
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatrixLayoutSetAttribute(hipblasLtMatrixLayout_t matLayout, hipblasLtMatrixLayoutAttribute_t attr, void const* buf, std::size_t sizeInBytes) {
  bool const counts = attr == HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  if (sizeInBytes != (counts ? sizeof matLayout->batch : sizeof matLayout->next)) return HIPBLAS_STATUS_INVALID_VALUE;
  std::memcpy(counts ? static_cast<void*>(&matLayout->batch) : &matLayout->next, buf, sizeInBytes);
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatmulPreferenceCreate(hipblasLtMatmulPreference_t* pref) {
  *pref = new hipblasLtMatmulPreferenceOpaque_t;
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatmulPreferenceDestroy(hipblasLtMatmulPreference_t const pref) {
  delete pref;
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatmulPreferenceSetAttribute(hipblasLtMatmulPreference_t pref, hipblasLtMatmulPreferenceAttributes_t attr, void const* buf, std::size_t sizeInBytes) {
  if (attr != HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES || sizeInBytes != sizeof pref->workspace) return HIPBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&pref->workspace, buf, sizeInBytes);
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatmulAlgoGetHeuristic(hipblasLtHandle_t handle, hipblasLtMatmulDesc_t matmulDesc, hipblasLtMatrixLayout_t Adesc, hipblasLtMatrixLayout_t Bdesc, hipblasLtMatrixLayout_t Cdesc,
                                                       hipblasLtMatrixLayout_t Ddesc, hipblasLtMatmulPreference_t pref, int requestedAlgoCount, hipblasLtMatmulHeuristicResult_t heuristicResultsArray[],
                                                       int* returnAlgoCount) {
  ++stands_for_hipblaslt::searches;
  *returnAlgoCount = 0;
  if (handle == nullptr) return HIPBLAS_STATUS_NOT_INITIALIZED;
  if (requestedAlgoCount < 1 || Adesc->type != Bdesc->type || Cdesc->type != Ddesc->type) return HIPBLAS_STATUS_INVALID_VALUE;
  bool const biased = matmulDesc->epilogue == HIPBLASLT_EPILOGUE_BIAS;
  if (biased && (matmulDesc->bias == nullptr || matmulDesc->bias_type != static_cast<std::int32_t>(Ddesc->type))) return HIPBLAS_STATUS_INVALID_VALUE;
  if (pref->workspace < stands_for_hipblaslt::workspace || (stands_for_hipblaslt::only_of_one_type && Adesc->type != Ddesc->type)) return HIPBLAS_STATUS_SUCCESS;  // there is none
  heuristicResultsArray[0].algo.data[0] = stands_for_hipblaslt::algorithm;
  heuristicResultsArray[0].algo.max_workspace_bytes = pref->workspace;
  heuristicResultsArray[0].workspaceSize = stands_for_hipblaslt::workspace;
  heuristicResultsArray[0].state = HIPBLAS_STATUS_SUCCESS;
  *returnAlgoCount = 1;
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatmul(hipblasLtHandle_t handle, hipblasLtMatmulDesc_t matmulDesc, void const* alpha, void const* A, hipblasLtMatrixLayout_t Adesc, void const* B, hipblasLtMatrixLayout_t Bdesc,
                                       void const* beta, void const* C, hipblasLtMatrixLayout_t Cdesc, void* D, hipblasLtMatrixLayout_t Ddesc, hipblasLtMatmulAlgo_t const* algo, void* workspace,
                                       std::size_t workspaceSizeInBytes, hipStream_t) {
  namespace own = stands_for_hipblaslt;
  if (handle == nullptr) return HIPBLAS_STATUS_NOT_INITIALIZED;
  if (algo->data[0] != own::algorithm || workspaceSizeInBytes < own::workspace || reinterpret_cast<std::uintptr_t>(workspace) % 16 != 0) return HIPBLAS_STATUS_INVALID_VALUE;
  std::memset(workspace, 0xab, own::workspace);
  bool const a_turned = matmulDesc->turned[0] == HIPBLAS_OP_T, b_turned = matmulDesc->turned[1] == HIPBLAS_OP_T;
  std::uint64_t const rows = a_turned ? Adesc->cols : Adesc->rows, depth = a_turned ? Adesc->rows : Adesc->cols, cols = b_turned ? Bdesc->rows : Bdesc->cols;
  float const add = *static_cast<float const*>(beta);
  if (*static_cast<float const*>(alpha) != 1 || (add != 0 && add != 1)) return HIPBLAS_STATUS_INVALID_VALUE;
  if (rows != Ddesc->rows || cols != Ddesc->cols || depth != (b_turned ? Bdesc->cols : Bdesc->rows) || Cdesc->rows != rows || Cdesc->cols != cols) return HIPBLAS_STATUS_INVALID_VALUE;
  if (Adesc->batch != Ddesc->batch || Bdesc->batch != Ddesc->batch || Cdesc->batch != Ddesc->batch) return HIPBLAS_STATUS_INVALID_VALUE;
  bool const biased = matmulDesc->epilogue == HIPBLASLT_EPILOGUE_BIAS;
  if (biased && matmulDesc->bias == nullptr) return HIPBLAS_STATUS_INVALID_VALUE;
  own::products += Ddesc->batch;
  own::batches += Ddesc->batch > 1;
  own::biased += biased;
  own::added += add != 0;
  auto const place = [](hipblasLtMatrixLayout_t m, bool turned, std::int64_t n, std::int64_t row, std::int64_t col) { return n * m->next + (turned ? col + row * m->apart : row + col * m->apart); };
  for (std::int64_t n = 0; n < Ddesc->batch; ++n)
    for (std::int64_t c = 0; c < static_cast<std::int64_t>(cols); ++c)
      for (std::int64_t r = 0; r < static_cast<std::int64_t>(rows); ++r) {
        float sum = 0;
        for (std::int64_t k = 0; k < static_cast<std::int64_t>(depth); ++k) sum += own::element(A, Adesc->type, place(Adesc, a_turned, n, r, k)) * own::element(B, Bdesc->type, place(Bdesc, b_turned, n, k, c));
        if (add != 0) sum += own::element(C, Cdesc->type, place(Cdesc, false, n, r, c));
        if (biased) sum += own::element(matmulDesc->bias, static_cast<hipDataType>(matmulDesc->bias_type), r);
        own::put(D, Ddesc->type, place(Ddesc, false, n, r, c), sum);
      }
  return HIPBLAS_STATUS_SUCCESS;
}
