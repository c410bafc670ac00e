// NVIDIA's GPUs as a device: tasks as kernels on a stream.
#pragma once

#include <tx/backends/cuda/target.hpp>
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
  TX_DEVICE std::uint32_t ballot(bool x) const { return __ballot_sync(0xffffffffu, x); }
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

  TX_DEVICE void copy(std::byte* to, std::byte const* from, int bytes) const {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes) : "memory");
  }
  TX_DEVICE void end_copies() const { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
  template <int N>
  TX_DEVICE void wait_copies() const {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
  }
  template <bool Transposed>
  TX_DEVICE matrices load_matrices(std::byte const* row) const {
    matrices m;
    if constexpr (Transposed)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n" : "=r"(m.part[0]), "=r"(m.part[1]), "=r"(m.part[2]), "=r"(m.part[3]) : "r"(shared_address(row)) : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n" : "=r"(m.part[0]), "=r"(m.part[1]), "=r"(m.part[2]), "=r"(m.part[3]) : "r"(shared_address(row)) : "memory");
    return m;
  }
  template <dtype D>
  TX_DEVICE void add_product(float (&sum)[4], matrices const& left, std::uint32_t low, std::uint32_t high) const {
    static_assert(D == dtype::bf16 || D == dtype::f16);
    if constexpr (D == dtype::bf16)
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                   : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(left.part[0]), "r"(left.part[1]), "r"(left.part[2]), "r"(left.part[3]), "r"(low), "r"(high));
    else
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                   : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(left.part[0]), "r"(left.part[1]), "r"(left.part[2]), "r"(left.part[3]), "r"(low), "r"(high));
  }

 private:
  TX_DEVICE static std::uint32_t shared_address(std::byte const* p) { return static_cast<std::uint32_t>(__cvta_generic_to_shared(p)); }
};

// Blocks that a multiprocessor has at once, where a task asks for so many: the compiler keeps registers for them.
template <class Task>
inline constexpr int blocks_beside = [] {
  if constexpr (requires { Task::blocks_beside; }) return Task::blocks_beside;
  else return 1;
}();

template <class Task>
__global__ void __launch_bounds__(Task::threads, blocks_beside<Task>) run_task(__grid_constant__ typename Task::arguments const a) {
  gpu_block b;
  Task::run(b, a);
}

struct gpu {
  template <class Task>
  static void launch(int blocks, int threads, std::int64_t shared_bytes, typename Task::arguments const& a) {
    static_assert(std::is_trivially_copyable_v<typename Task::arguments> && sizeof(a) <= most_arguments);
    if (shared_bytes > most_shared) {
      static cudaError_t const allowed = cudaFuncSetAttribute(run_task<Task>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
      check(allowed, "a kernel needs more shared memory than this device has");
    }
    run_task<Task><<<blocks, threads, static_cast<std::size_t>(shared_bytes), stream()>>>(a);
    check(cudaGetLastError(), "a kernel could not be started");
  }
  static void clear(std::byte* to, std::int64_t count) { check(cudaMemsetAsync(to, 0, static_cast<std::size_t>(count), stream()), "clearing memory"); }

  // All work of the process on the device, in order.
  static cudaStream_t stream() {
    static cudaStream_t const one = [] {
      cudaStream_t s = nullptr;
      check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "a stream could not be made");
      return s;
    }();
    return one;
  }

  static void check(cudaError_t status, char const* what) {
    if (status != cudaSuccess) throw error(std::string("cuda: ") + what + ": " + cudaGetErrorString(status));
  }
};

}  // namespace tx::backends::cuda
