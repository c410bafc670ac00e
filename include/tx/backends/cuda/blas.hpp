// Products by cuBLASLt, for a device that has it: https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api. Programs link cublasLt.
#pragma once

#include <tx/backends/cuda/gpu.hpp>
#include <tx/backends/cuda/kernels.hpp>

#include <cublasLt.h>

#include <compare>
#include <map>

namespace tx::backends::cuda {

// Tf32: products of floats are of floats rounded to 11 bits (https://docs.nvidia.com/cuda/cublas/#cublascomputetype-t), on units for matrices.
template <bool Tf32>
struct gpu_with_blas : gpu {
  // Matrices lie by columns there: what is asked for is the product's transpose, the right side first.
  static bool multiply(library_product const& p) {
    bool const right_turned = p.right_col != 1, left_turned = p.left_col != 1;
    if ((right_turned && p.right_row != 1) || (left_turned && p.left_row != 1)) return false;
    if (p.type == dtype::e4m3 && (!right_turned || left_turned)) return false;  // both sides depth by depth
    bool const adds = p.added != nullptr;
    plan const* const way = plan_of(p, {.type = p.type, .to_type = p.to_type, .rows = p.rows, .cols = p.cols, .depth = p.depth,
                                     .right = {right_turned, right_turned ? p.right_col : p.right_row, p.next_right}, .left = {left_turned, left_turned ? p.left_col : p.left_row, p.next_left},
                                     .added = {false, adds ? p.added_apart : p.apart, adds ? p.next_added : p.next_to}, .to = {false, p.apart, p.next_to}, .adds_row = p.row != nullptr,
                                     .next_row = p.next_row, .batch = p.batch, .alignment = aligned(p), .scales = p.row_scales != nullptr});
    if (way == nullptr) return false;
    float const one = 1, zero = 0;
    if (p.row_scales != nullptr) point_at_scales(*way, p);
    if (p.row != nullptr) must(cublasLtMatmulDescSetAttribute(way->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p.row, sizeof p.row), "a product's description");
    must(cublasLtMatmul(library(), way->product, &one, p.right, way->right, p.left, way->left, adds ? &one : &zero, adds ? p.added : p.to, adds ? way->added : way->to, p.to,
                        way->to, &way->algorithm, p.workspace, static_cast<std::size_t>(library_workspace), stream()),
         "a product could not be started");
    return true;
  }

 private:
  // How the rows of a side, or of results, lie, and where the next product's are.
  struct matrix_key {
    bool turned;
    std::int64_t apart, next;
    auto operator<=>(matrix_key const&) const = default;
  };
  struct shape_key {
    dtype type, to_type;
    std::int64_t rows, cols, depth;
    matrix_key right, left, added, to;
    bool adds_row;
    std::int64_t next_row;
    std::int32_t batch;
    int alignment;
    bool scales;  // of rows and of columns
    auto operator<=>(shape_key const&) const = default;
  };

  // How products of one shape are computed, asked for once.
  struct plan {
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t right = nullptr, left = nullptr, added = nullptr, to = nullptr;
    cublasLtMatmulAlgo_t algorithm{};
    bool found = false;
  };

  static cudaDataType_t named(dtype d) { return d == dtype::bf16 ? CUDA_R_16BF : d == dtype::f16 ? CUDA_R_16F : d == dtype::e4m3 ? CUDA_R_8F_E4M3 : CUDA_R_32F; }
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
    std::int64_t const next = ((p.next_left | p.next_right | p.next_row) * size_of(p.type)) | ((p.next_to | p.next_added) * size_of(p.to_type));
    auto const all = static_cast<std::uintptr_t>(next) | reinterpret_cast<std::uintptr_t>(p.left) | reinterpret_cast<std::uintptr_t>(p.right) | reinterpret_cast<std::uintptr_t>(p.to) | reinterpret_cast<std::uintptr_t>(p.added) | reinterpret_cast<std::uintptr_t>(p.row) | 16u;
    return static_cast<int>(all & (~all + 1));
  }

  // Null: the library has no way.
  static plan const* plan_of(library_product const& first, shape_key const& key) {
    static std::map<shape_key, plan> known;
    auto const [place, fresh] = known.try_emplace(key);
    plan& way = place->second;
    if (fresh) way = find(first, key);
    return way.found ? &way : nullptr;
  }
  // A number for each row of results and one for each column, where the library has such: https://docs.nvidia.com/cuda/cublas/#outer-vector-scaling-for-fp8-data-types
  static bool has_scales([[maybe_unused]] plan const& way) {
#if CUBLAS_VERSION >= 120900
    std::int32_t const each = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    return cublasLtMatmulDescSetAttribute(way.product, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &each, sizeof each) == CUBLAS_STATUS_SUCCESS &&
           cublasLtMatmulDescSetAttribute(way.product, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &each, sizeof each) == CUBLAS_STATUS_SUCCESS;
#else
    return false;
#endif
  }
  static void point_at_scales(plan const& way, library_product const& p) {
    must(cublasLtMatmulDescSetAttribute(way.product, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &p.column_scales, sizeof p.column_scales), "a product's description");
    must(cublasLtMatmulDescSetAttribute(way.product, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &p.row_scales, sizeof p.row_scales), "a product's description");
  }
  // `first`: whose scales stand for those of all later ones, as the library looks for a way to do with some.
  static plan find(library_product const& first, shape_key const& key) {
    cublasOperation_t const turned = CUBLAS_OP_T, straight = CUBLAS_OP_N;
    plan way;
    auto const describe = [&](cublasLtMatmulDescAttributes_t what, auto const& as) { must(cublasLtMatmulDescSetAttribute(way.product, what, &as, sizeof as), "a product's description"); };
    must(cublasLtMatmulDescCreate(&way.product, Tf32 && key.type == dtype::f32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F), "a product's description");
    describe(CUBLASLT_MATMUL_DESC_TRANSA, key.right.turned ? turned : straight);
    describe(CUBLASLT_MATMUL_DESC_TRANSB, key.left.turned ? turned : straight);
    if (key.scales) {
      if (!has_scales(way)) return way;
      point_at_scales(way, first);
    }
    // Its results are columns there, so a row of them is what every column is added: the library's bias, of the type of the results.
    if (key.adds_row) describe(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    if (key.adds_row && key.batch > 1) describe(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, key.next_row);
    auto const layout = [&](cublasLtMatrixLayout_t& to, dtype t, std::int64_t lines, std::int64_t columns, matrix_key const& m) {
      must(cublasLtMatrixLayoutCreate(&to, named(t), static_cast<std::uint64_t>(m.turned ? columns : lines), static_cast<std::uint64_t>(m.turned ? lines : columns), m.apart), "a matrix");
      if (key.batch == 1) return;
      must(cublasLtMatrixLayoutSetAttribute(to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &key.batch, sizeof key.batch), "matrices of a batch");
      must(cublasLtMatrixLayoutSetAttribute(to, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &m.next, sizeof m.next), "matrices of a batch");
    };
    layout(way.right, key.type, key.cols, key.depth, key.right);
    layout(way.left, key.type, key.depth, key.rows, key.left);
    layout(way.added, key.to_type, key.cols, key.rows, key.added);
    layout(way.to, key.to_type, key.cols, key.rows, key.to);

    cublasLtMatmulPreference_t preference = nullptr;
    must(cublasLtMatmulPreferenceCreate(&preference), "a preference");
    auto const bytes = static_cast<std::size_t>(library_workspace);
    auto const least = static_cast<std::uint32_t>(key.alignment);
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
