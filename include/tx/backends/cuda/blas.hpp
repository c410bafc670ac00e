// Products by cuBLASLt, for a device that has it: https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api. Programs link cublasLt.
#pragma once

#include <tx/backends/cuda/gpu.hpp>
#include <tx/backends/cuda/kernels.hpp>

#include <cublasLt.h>

#include <map>
#include <tuple>

namespace tx::backends::cuda {

struct gpu_with_blas : gpu {
  // Matrices lie by columns there: what is asked for is the product's transpose, the right side first.
  static bool multiply(library_product const& p) {
    bool const right_turned = p.right_col != 1, left_turned = p.left_col != 1;
    if ((right_turned && p.right_row != 1) || (left_turned && p.left_row != 1)) return false;
    std::int64_t const right_apart = right_turned ? p.right_col : p.right_row, left_apart = left_turned ? p.left_col : p.left_row;
    std::int64_t const added_apart = p.added != nullptr ? p.added_apart : p.apart;
    plan const* const way = plan_of({p.type, p.to_type, p.rows, p.cols, p.depth, right_turned, right_apart, left_turned, left_apart, p.apart, added_apart, p.row != nullptr, aligned(p)});
    if (way == nullptr) return false;
    float const one = 1, zero = 0;
    bool const adds = p.added != nullptr;
    if (p.row != nullptr) must(cublasLtMatmulDescSetAttribute(way->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p.row, sizeof p.row), "a product's description");
    must(cublasLtMatmul(library(), way->product, &one, p.right, way->right, p.left, way->left, adds ? &one : &zero, adds ? p.added : p.to, added_apart == p.apart ? way->to : way->added, p.to,
                        way->to, &way->algorithm, p.workspace, static_cast<std::size_t>(library_workspace), stream()),
         "a product could not be started");
    return true;
  }

 private:
  using shape_key = std::tuple<dtype, dtype, std::int64_t, std::int64_t, std::int64_t, bool, std::int64_t, bool, std::int64_t, std::int64_t, std::int64_t, bool, int>;

  // How products of one shape are computed, asked for once.
  struct plan {
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t right = nullptr, left = nullptr, added = nullptr, to = nullptr;
    cublasLtMatmulAlgo_t algorithm{};
    bool found = false;
  };

  static cudaDataType_t named(dtype d) { return d == dtype::bf16 ? CUDA_R_16BF : d == dtype::f16 ? CUDA_R_16F : CUDA_R_32F; }
  static void must(cublasStatus_t status, char const* what) {
    if (status != CUBLAS_STATUS_SUCCESS) throw error(std::string("cuda: cuBLASLt: ") + what + ": " + cublasLtGetStatusString(status));
  }
  static cublasLtHandle_t library() {
    static cublasLtHandle_t const handle = [] {
      cublasLtHandle_t h = nullptr;
      must(cublasLtCreate(&h), "it does not begin");
      return h;
    }();
    return handle;
  }
  // The multiple of bytes, up to 16, that all matrices begin at.
  static int aligned(library_product const& p) {
    auto const all = reinterpret_cast<std::uintptr_t>(p.left) | reinterpret_cast<std::uintptr_t>(p.right) | reinterpret_cast<std::uintptr_t>(p.to) | reinterpret_cast<std::uintptr_t>(p.added) | reinterpret_cast<std::uintptr_t>(p.row) | 16u;
    return static_cast<int>(all & (~all + 1));
  }

  // Null: the library has no way.
  static plan const* plan_of(shape_key const& key) {
    static std::map<shape_key, plan> known;
    auto const [place, fresh] = known.try_emplace(key);
    plan& way = place->second;
    if (fresh) way = find(key);
    return way.found ? &way : nullptr;
  }
  static plan find(shape_key const& key) {
    auto const [type, to_type, rows, cols, depth, right_turned, right_apart, left_turned, left_apart, apart, added_apart, adds_row, alignment] = key;
    cublasOperation_t const turned = CUBLAS_OP_T, straight = CUBLAS_OP_N;
    plan way;
    must(cublasLtMatmulDescCreate(&way.product, CUBLAS_COMPUTE_32F, CUDA_R_32F), "a product's description");
    must(cublasLtMatmulDescSetAttribute(way.product, CUBLASLT_MATMUL_DESC_TRANSA, right_turned ? &turned : &straight, sizeof turned), "a product's description");
    must(cublasLtMatmulDescSetAttribute(way.product, CUBLASLT_MATMUL_DESC_TRANSB, left_turned ? &turned : &straight, sizeof turned), "a product's description");
    // Its results are columns there, so a row of them is what every column is added: the library's bias, of the type of the results.
    cublasLtEpilogue_t const epilogue = CUBLASLT_EPILOGUE_BIAS;
    if (adds_row) must(cublasLtMatmulDescSetAttribute(way.product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue), "a product's description");
    auto const layout = [](cublasLtMatrixLayout_t& to, cudaDataType_t t, std::int64_t lines, std::int64_t columns, std::int64_t from_column_to_column) {
      must(cublasLtMatrixLayoutCreate(&to, t, static_cast<std::uint64_t>(lines), static_cast<std::uint64_t>(columns), from_column_to_column), "a matrix");
    };
    layout(way.right, named(type), right_turned ? depth : cols, right_turned ? cols : depth, right_apart);
    layout(way.left, named(type), left_turned ? rows : depth, left_turned ? depth : rows, left_apart);
    layout(way.added, named(to_type), cols, rows, added_apart);
    layout(way.to, named(to_type), cols, rows, apart);

    cublasLtMatmulPreference_t preference = nullptr;
    must(cublasLtMatmulPreferenceCreate(&preference), "a preference");
    auto const bytes = static_cast<std::size_t>(library_workspace);
    auto const least = static_cast<std::uint32_t>(alignment);
    must(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes), "a preference");
    for (auto const attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      must(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &least, sizeof least), "a preference");
    cublasLtMatmulHeuristicResult_t best{};
    int count = 0;
    cublasStatus_t const status = cublasLtMatmulAlgoGetHeuristic(library(), way.product, way.right, way.left, way.added, way.to, preference, 1, &best, &count);
    cublasLtMatmulPreferenceDestroy(preference);
    way.found = status == CUBLAS_STATUS_SUCCESS && count > 0;
    way.algorithm = best.algo;
    return way;
  }
};

}  // namespace tx::backends::cuda
