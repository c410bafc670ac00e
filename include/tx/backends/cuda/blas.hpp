// Products by cuBLASLt, for a device that has it: https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api. Programs link cublasLt.
// Of its algorithms for a shape the one that it expects most of is taken; where the environment's TX_CUDA_ALGORITHMS names a file, the fastest of some, which are
// measured when a product of that shape is first started, and kept in that file.
#pragma once

#include <tx/backends/cuda/gpu.hpp>
#include <tx/backends/cuda/kernels.hpp>
#include <tx/backends/cuda/kept_algorithms.hpp>
#include <tx/backends/cuda/measured_products.hpp>

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <span>

namespace tx::backends::cuda {

// Algorithms that are kept for the device that the process uses; null where nobody asked for that.
inline kept_algorithms* algorithms_here() {
  static std::unique_ptr<kept_algorithms> const all = []() -> std::unique_ptr<kept_algorithms> {
    char const* const file = std::getenv("TX_CUDA_ALGORITHMS");
    if (file == nullptr || *file == '\0') return nullptr;
    int number = 0;
    cudaDeviceProp device{};
    gpu::check(cudaGetDevice(&number), "no device is in use");
    gpu::check(cudaGetDeviceProperties(&device, number), "what a device is");
    return std::make_unique<kept_algorithms>(file, std::string(device.name) + ", " + std::to_string(device.multiProcessorCount) + " multiprocessors, cuBLASLt " + std::to_string(cublasLtGetVersion()));
  }();
  return all.get();
}

// Tf32: products of floats are of floats rounded to 11 bits (https://docs.nvidia.com/cuda/cublas/#cublascomputetype-t), on units for matrices.
template <bool Tf32>
struct gpu_with_blas : gpu {
  // Matrices lie by columns there: what is asked for is the product's transpose, the right side first.
  static bool multiply(library_product const& p) {
    bool const right_turned = p.right_col != 1, left_turned = p.left_col != 1;
    if ((right_turned && p.right_row != 1) || (left_turned && p.left_row != 1)) return false;
    if (p.type == dtype::e4m3 && (!right_turned || left_turned)) return false;  // both sides depth by depth
    bool const adds = p.added != nullptr;
    plan const* const way = plan_of({.type = p.type, .to_type = p.to_type, .tf32 = Tf32 && p.type == dtype::f32, .rows = p.rows, .cols = p.cols, .depth = p.depth,
                                     .right = {right_turned, right_turned ? p.right_col : p.right_row, p.next_right}, .left = {left_turned, left_turned ? p.left_col : p.left_row, p.next_left},
                                     .added = {false, adds ? p.added_apart : p.apart, adds ? p.next_added : p.next_to}, .to = {false, p.apart, p.next_to}, .adds = adds,
                                     .adds_row = p.row != nullptr, .next_row = p.next_row, .batch = p.batch, .alignment = aligned(p), .scales = p.row_scales != nullptr}, p);
    if (way == nullptr) return false;
    must(start(*way, way->algorithm, p), "a product could not be started");
    return true;
  }

 private:
  // How products of one shape are computed, asked for once.
  struct plan {
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t right = nullptr, left = nullptr, added = nullptr, to = nullptr;
    cublasLtMatmulAlgo_t algorithm{};
    bool found = false;
  };
  static cublasStatus_t start(plan const& way, cublasLtMatmulAlgo_t const& by, library_product const& p) {
    float const one = 1, zero = 0;
    bool const adds = p.added != nullptr;
    if (p.row_scales != nullptr) point_at_scales(way, p);
    if (p.row != nullptr) must(cublasLtMatmulDescSetAttribute(way.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p.row, sizeof p.row), "a product's description");
    return cublasLtMatmul(library(), way.product, &one, p.right, way.right, p.left, way.left, adds ? &one : &zero, adds ? p.added : p.to, adds ? way.added : way.to, p.to, way.to, &by,
                          p.workspace, static_cast<std::size_t>(library_workspace), stream());
  }

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
  static plan const* plan_of(product_shape const& key, library_product const& p) {
    static std::map<product_shape, plan> known;
    auto place = known.find(key);
    if (place == known.end()) place = known.emplace(key, find(key, p)).first;
    return place->second.found ? &place->second : nullptr;
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
  // p: the first product of the shape, whose scales stand for those of all later ones, as the library looks for a way to do with some.
  static plan find(product_shape const& key, library_product const& p) {
    cublasOperation_t const turned = CUBLAS_OP_T, straight = CUBLAS_OP_N;
    plan way;
    auto const describe = [&](cublasLtMatmulDescAttributes_t what, auto const& as) { must(cublasLtMatmulDescSetAttribute(way.product, what, &as, sizeof as), "a product's description"); };
    must(cublasLtMatmulDescCreate(&way.product, key.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F), "a product's description");
    describe(CUBLASLT_MATMUL_DESC_TRANSA, key.right.turned ? turned : straight);
    describe(CUBLASLT_MATMUL_DESC_TRANSB, key.left.turned ? turned : straight);
    std::int8_t const fast_sums = 0;  // sums of E4M3 go to f32 as often as the device can
    if (key.type == dtype::e4m3) describe(CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast_sums);
    if (key.scales) {
      if (!has_scales(way)) return way;
      point_at_scales(way, p);
    }
    // Its results are columns there, so a row of them is what every column is added: the library's bias, of the type of the results.
    if (key.adds_row) describe(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    if (key.adds_row && key.batch > 1) describe(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, key.next_row);
    auto const layout = [&](cublasLtMatrixLayout_t& to, dtype t, std::int64_t lines, std::int64_t columns, matrix_shape const& m) {
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
    std::array<cublasLtMatmulHeuristicResult_t, most_candidates> some{};
    int count = 0;
    cublasStatus_t const status =
        cublasLtMatmulAlgoGetHeuristic(library(), way.product, way.right, way.left, way.added, way.to, preference, algorithms_here() != nullptr ? most_candidates : 1, some.data(), &count);
    cublasLtMatmulPreferenceDestroy(preference);
    way.found = status == CUBLAS_STATUS_SUCCESS && count > 0;
    if (way.found) way.algorithm = some[0].algo;
    if (way.found && algorithms_here() != nullptr) choose(way, key, p, std::span(some).first(static_cast<std::size_t>(count)));
    return way;
  }

  // That which is kept for the shape, or is measured now. What another process has kept may be wrong for this one, so the library is asked.
  static void choose(plan& way, product_shape const& key, library_product const& p, std::span<cublasLtMatmulHeuristicResult_t const> some) {
    static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(algorithm_bytes));
    auto const runs = [&](algorithm_bytes const& bytes) {
      auto const algorithm = std::bit_cast<cublasLtMatmulAlgo_t>(bytes);
      cublasLtMatmulHeuristicResult_t facts{};
      return cublasLtMatmulAlgoCheck(library(), way.product, way.right, way.left, way.added, way.to, &algorithm, &facts) == CUBLAS_STATUS_SUCCESS &&
             facts.workspaceSize <= static_cast<std::size_t>(library_workspace);
    };
    std::string const shape = key.of_about_so_many_rows().text();
    std::optional<algorithm_bytes> best = algorithms_here()->kept(shape, runs);
    // The first run of a program is not captured (graphs.hpp), so a shape that is first met in a capture is none that was planned. Its first candidate stays.
    auto captured = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream(), &captured), "is a stream captured");
    if (!best && captured == cudaStreamCaptureStatusNone) {
      // All that was started is done before others may have to wait, as it may be an exchange with just those.
      check(cudaDeviceSynchronize(), "computing on the device");
      scratch const results(p);
      best = algorithms_here()->of(shape, runs, [&] { return measured(way, some, results.product); });
    }
    if (best) way.algorithm = std::bit_cast<cublasLtMatmulAlgo_t>(*best);
  }

  // The same product with results that nobody reads, so that a value it is added to stays as it is. product.to is null where there is no memory for them.
  struct scratch {
    explicit scratch(library_product const& p) : product(p) {
      std::int64_t const elements = (p.batch - 1) * p.next_to + (p.rows - 1) * p.apart + p.cols;
      void* at = nullptr;
      if (cudaMalloc(&at, static_cast<std::size_t>(elements * size_of(p.to_type))) != cudaSuccess) static_cast<void>(cudaGetLastError());  // nothing to tell later calls of
      product.to = static_cast<std::byte*>(at);
    }
    scratch(scratch const&) = delete;
    scratch& operator=(scratch const&) = delete;
    ~scratch() { cudaFree(product.to); }
    library_product product;
  };
  static std::optional<kept_algorithms::measured> measured(plan const& way, std::span<cublasLtMatmulHeuristicResult_t const> some, library_product const& p) {
    if (p.to == nullptr) return std::nullopt;
    struct clock {
      cudaEvent_t before{}, after{};
      ~clock() {
        for (cudaEvent_t const e : {before, after})
          if (e != nullptr) cudaEventDestroy(e);
      }
    } c;
    for (cudaEvent_t* e : {&c.before, &c.after}) check(cudaEventCreate(e), "an event could not be made");
    std::array<int, most_candidates> runs{};  // between two events: about a millisecond of them, as the device's clock is coarse
    measured_way const best = fastest(static_cast<int>(some.size()), [&](int i) {
      auto const k = static_cast<std::size_t>(i);
      if (some[k].state != CUBLAS_STATUS_SUCCESS) return -1.0;
      check(cudaEventRecord(c.before, stream()), "an event could not be recorded");
      int const count = std::max(1, runs[k]);
      for (int run = 0; run < count; ++run)
        if (start(way, some[k].algo, p) != CUBLAS_STATUS_SUCCESS) return -1.0;
      check(cudaEventRecord(c.after, stream()), "an event could not be recorded");
      check(cudaEventSynchronize(c.after), "computing on the device");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, c.before, c.after), "an event");
      double const each = 1e-3 * static_cast<double>(milliseconds) / count;
      runs[k] = each > 5e-5 ? static_cast<int>(1e-3 / each) : 20;
      return each;
    });
    if (best.number < 0) return std::nullopt;
    return kept_algorithms::measured{std::bit_cast<algorithm_bytes>(some[static_cast<std::size_t>(best.number)].algo), best.seconds};
  }
};

}  // namespace tx::backends::cuda
