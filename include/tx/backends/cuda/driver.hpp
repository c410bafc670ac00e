// What the device backend asks CUDA's runtime for: https://docs.nvidia.com/cuda/cuda-runtime-api. tx/backends/hip/driver.hpp is the same of HIP.
#pragma once

#include <tx/config.hpp>

#if !defined(__CUDACC__)
#error "tx/backends/cuda.hpp is for sources that nvcc compiles. FIX: name the file .cu, or use <tx/backends/cpu.hpp>"
#endif

#include <cuda_runtime.h>

namespace tx::backends::cuda {

// A task's arguments lie in constant memory.
template <class Block, class Task, int BlocksBeside>
__global__ void __launch_bounds__(Task::threads, BlocksBeside) run_task(__grid_constant__ typename Task::arguments const a) {
  Block b;
  Task::run(b, a);
}

struct driver {
  static constexpr char const* name = "cuda";
  static constexpr char const* no_device = "this machine has no usable NVIDIA device. FIX: use tx::cpu, or install the driver";
  using status = cudaError_t;
  using stream = cudaStream_t;
  using captured = cudaGraph_t;
  using runnable = cudaGraphExec_t;  // a captured run that has been made ready
  static constexpr status success = cudaSuccess;
  static char const* text(status s) { return cudaGetErrorString(s); }

  static bool has_device() {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == success && devices > 0;
  }
  static status allocate(void** p, std::size_t bytes) { return cudaMalloc(p, bytes); }
  static void release(void* p) { cudaFree(p); }
  static status make(stream* s) { return cudaStreamCreateWithFlags(s, cudaStreamNonBlocking); }
  static status wait(stream s) { return cudaStreamSynchronize(s); }
  static status clear(void* to, std::size_t bytes, stream s) { return cudaMemsetAsync(to, 0, bytes, s); }
  static status upload(void* to, void const* from, std::size_t bytes, stream s) { return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s); }
  static status download(void* to, void const* from, std::size_t bytes, stream s) { return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, s); }

  static status begin_capture(stream s) { return cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal); }
  static status end_capture(stream s, captured* to) { return cudaStreamEndCapture(s, to); }
  static status make_ready(runnable* to, captured g) { return cudaGraphInstantiate(to, g, 0); }
  static status start(runnable g, stream s) { return cudaGraphLaunch(g, s); }
  static void destroy(captured g) { cudaGraphDestroy(g); }
  static void destroy(runnable g) { cudaGraphExecDestroy(g); }

  template <class Block, class Task, int BlocksBeside>
  static status allow_shared(std::int64_t bytes) {
    return cudaFuncSetAttribute(run_task<Block, Task, BlocksBeside>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  }
  template <class Block, class Task, int BlocksBeside>
  static status start(int blocks, int threads, std::int64_t shared_bytes, stream s, typename Task::arguments const& a) {
    run_task<Block, Task, BlocksBeside><<<blocks, threads, static_cast<std::size_t>(shared_bytes), s>>>(a);
    return cudaGetLastError();
  }
};

}  // namespace tx::backends::cuda
