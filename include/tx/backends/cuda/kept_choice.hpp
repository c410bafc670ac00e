// Which of cuBLASLt's algorithms for a shape is taken: that which it expects most of, or, where the environment's TX_CUDA_ALGORITHMS names a file, the fastest of some,
// which are measured when a product of that shape is first started, and kept in that file.
#pragma once

#include <tx/backends/cuda/cublaslt.hpp>
#include <tx/backends/cuda/gpu.hpp>
#include <tx/backends/device/kept_algorithms.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

namespace tx::backends::cuda {

// Algorithms that are kept for the device that the process uses; null where nobody asked for that.
inline device::kept_algorithms* algorithms_here() {
  static std::unique_ptr<device::kept_algorithms> const all = []() -> std::unique_ptr<device::kept_algorithms> {
    char const* const file = std::getenv("TX_CUDA_ALGORITHMS");
    if (file == nullptr || *file == '\0') return nullptr;
    int number = 0;
    cudaDeviceProp device{};
    gpu::check(cudaGetDevice(&number), "no device is in use");
    gpu::check(cudaGetDeviceProperties(&device, number), "what a device is");
    return std::make_unique<device::kept_algorithms>(file, std::string(device.name) + ", " + std::to_string(device.multiProcessorCount) + " multiprocessors, cuBLASLt " + std::to_string(cublasLtGetVersion()));
  }();
  return all.get();
}

struct kept_choice {
  static int candidates() { return algorithms_here() != nullptr ? device::most_candidates : 1; }

  // That which is kept for the shape, or is measured now. What another process has kept may be wrong for this one, so the library is asked.
  template <class Products, class Plan>
  static void choose(Plan& way, device::library_key const& key, device::library_product const& p, std::span<cublasLtMatmulHeuristicResult_t const> some) {
    if (algorithms_here() == nullptr) return;
    static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(device::algorithm_bytes));
    auto const runs = [&](device::algorithm_bytes const& bytes) {
      auto const algorithm = std::bit_cast<cublasLtMatmulAlgo_t>(bytes);
      cublasLtMatmulHeuristicResult_t facts{};
      return cublasLtMatmulAlgoCheck(Products::library(), way.product, way.right, way.left, way.added, way.to, &algorithm, &facts) == CUBLAS_STATUS_SUCCESS &&
             facts.workspaceSize <= static_cast<std::size_t>(device::library_workspace);
    };
    std::string const shape = key.of_about_so_many_rows().text();
    std::optional<device::algorithm_bytes> best = algorithms_here()->kept(shape, runs);
    // The first run of a program is not captured (graphs.hpp), so a shape that is first met in a capture is none that was planned. Its first candidate stays.
    auto captured = cudaStreamCaptureStatusNone;
    gpu::check(cudaStreamIsCapturing(gpu::stream(), &captured), "is a stream captured");
    if (!best && captured == cudaStreamCaptureStatusNone) {
      // All that was started is done before others may have to wait, as it may be an exchange with just those.
      gpu::check(cudaDeviceSynchronize(), "computing on the device");
      scratch const results(p);
      best = algorithms_here()->of(shape, runs, [&] { return measured<Products>(way, some, results.product); });
    }
    if (best) way.algorithm = std::bit_cast<cublasLtMatmulAlgo_t>(*best);
  }

 private:
  // The same product with results that nobody reads, so that a value it is added to stays as it is. product.to is null where there is no memory for them.
  struct scratch {
    explicit scratch(device::library_product const& p) : product(p) {
      std::int64_t const elements = (p.batch - 1) * p.next_to + (p.rows - 1) * p.apart + p.cols;
      void* at = nullptr;
      if (cudaMalloc(&at, static_cast<std::size_t>(elements * size_of(p.to_type))) != cudaSuccess) static_cast<void>(cudaGetLastError());  // nothing to tell later calls of
      product.to = static_cast<std::byte*>(at);
    }
    scratch(scratch const&) = delete;
    scratch& operator=(scratch const&) = delete;
    ~scratch() { cudaFree(product.to); }
    device::library_product product;
  };
  template <class Products, class Plan>
  static std::optional<device::kept_algorithms::measured> measured(Plan const& way, std::span<cublasLtMatmulHeuristicResult_t const> some, device::library_product const& p) {
    if (p.to == nullptr) return std::nullopt;
    struct clock {
      cudaEvent_t before{}, after{};
      ~clock() {
        for (cudaEvent_t const e : {before, after})
          if (e != nullptr) cudaEventDestroy(e);
      }
    } c;
    for (cudaEvent_t* e : {&c.before, &c.after}) gpu::check(cudaEventCreate(e), "an event could not be made");
    std::array<int, device::most_candidates> runs{};  // between two events: about a millisecond of them, as the device's clock is coarse
    device::measured_way const best = device::fastest(static_cast<int>(some.size()), [&](int i) {
      auto const k = static_cast<std::size_t>(i);
      if (some[k].state != CUBLAS_STATUS_SUCCESS) return -1.0;
      gpu::check(cudaEventRecord(c.before, gpu::stream()), "an event could not be recorded");
      int const count = std::max(1, runs[k]);
      for (int run = 0; run < count; ++run)
        if (Products::start(way, some[k].algo, p) != CUBLAS_STATUS_SUCCESS) return -1.0;
      gpu::check(cudaEventRecord(c.after, gpu::stream()), "an event could not be recorded");
      gpu::check(cudaEventSynchronize(c.after), "computing on the device");
      float milliseconds = 0;
      gpu::check(cudaEventElapsedTime(&milliseconds, c.before, c.after), "an event");
      double const each = 1e-3 * static_cast<double>(milliseconds) / count;
      runs[k] = each > 5e-5 ? static_cast<int>(1e-3 / each) : 20;
      return each;
    });
    if (best.number < 0) return std::nullopt;
    return device::kept_algorithms::measured{std::bit_cast<device::algorithm_bytes>(some[static_cast<std::size_t>(best.number)].algo), best.seconds};
  }
};

}  // namespace tx::backends::cuda
