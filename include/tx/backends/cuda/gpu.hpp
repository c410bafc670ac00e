// NVIDIA's GPUs as a device: tasks as kernels on the default stream.
#pragma once

#include <tx/backends/cuda/vocabulary.hpp>
#include <tx/core/error.hpp>

#if !defined(__CUDACC__)
#error "tx/backends/cuda.hpp is for sources that nvcc compiles. FIX: name the file .cu, or use <tx/backends/cpu.hpp>"
#endif

#include <cuda_runtime.h>

namespace tx::backends::cuda {

struct gpu_block {
  TX_DEVICE int thread() const { return static_cast<int>(threadIdx.x); }
  TX_DEVICE int threads() const { return static_cast<int>(blockDim.x); }
  TX_DEVICE int block() const { return static_cast<int>(blockIdx.x); }
  TX_DEVICE int blocks() const { return static_cast<int>(gridDim.x); }
  TX_DEVICE std::byte* shared() const {
    extern __shared__ __align__(16) std::byte room[];
    return room;
  }
  TX_DEVICE void sync() const { __syncthreads(); }
  TX_DEVICE void sync_warp() const { __syncwarp(); }
  TX_DEVICE bool last_of(std::uint32_t* count, int blocks) const {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(count, 1u) == static_cast<std::uint32_t>(blocks) - 1;
      if (last) atomicExch(count, 0u);
      __threadfence();
    }
    __syncthreads();
    return last;
  }
  template <class T>
  TX_DEVICE T exchange(T x, int mask) const {
    return __shfl_xor_sync(0xffffffffu, x, mask);
  }
};

template <class Task>
__global__ void __launch_bounds__(most_threads) run_task(__grid_constant__ typename Task::arguments const a) {
  gpu_block b;
  Task::run(b, a);
}

struct gpu {
  template <class Task>
  static void launch(int blocks, int threads, std::int64_t shared_bytes, typename Task::arguments const& a) {
    static_assert(std::is_trivially_copyable_v<typename Task::arguments> && sizeof(a) <= most_arguments);
    run_task<Task><<<blocks, threads, static_cast<std::size_t>(shared_bytes)>>>(a);
    check(cudaGetLastError(), "a kernel could not be started");
  }
  static void clear(std::byte* to, std::int64_t count) { check(cudaMemset(to, 0, static_cast<std::size_t>(count)), "cudaMemset"); }

  static void check(cudaError_t status, char const* what) {
    if (status != cudaSuccess) throw error(std::string("cuda: ") + what + ": " + cudaGetErrorString(status));
  }
};

}  // namespace tx::backends::cuda
