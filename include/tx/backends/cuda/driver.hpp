// What the device backend asks CUDA's runtime for: https://docs.nvidia.com/cuda/cuda-runtime-api. tx/backends/hip/driver.hpp is the same of HIP.
#pragma once

#include <tx/backends/cuda/target.hpp>

#if !__has_include(<cuda_runtime_api.h>)
#error "tx/backends/cuda.hpp needs the headers of the CUDA Toolkit. FIX: tx_add_program(... BACKENDS cuda), which finds them, or use <tx/backends/cpu.hpp>"
#endif

#include <cuda_runtime_api.h>

namespace tx::backends::cuda {

// How a task is started. That is defined in device_code.hpp, which nvcc compiles: for sources of its own, else in the source that cmake/DeviceTasks.cmake
// writes of all tasks that an object asks for.
template <class Task>
struct started {
  static cudaError_t allow(std::int64_t shared_bytes);  // more shared memory than most_shared, from now on
  static cudaError_t start(int blocks, int threads, std::int64_t shared_bytes, cudaStream_t s, typename Task::arguments const& a);
};

struct driver {
  static constexpr char const* name = "cuda";
  static constexpr device::matrix_units units = device::matrix_units::of_warps;
  static constexpr char const *vendor = "NVIDIA", *lacking = "install the driver";
  using status = cudaError_t;
  using stream = cudaStream_t;
  using event = cudaEvent_t;
  using captured = cudaGraph_t;
  using runnable = cudaGraphExec_t;  // a captured run that has been made ready
  static constexpr status success = cudaSuccess;
  static char const* text(status s) { return cudaGetErrorString(s); }

  static status use(int number) { return cudaSetDevice(number); }
  static status count_devices(int* count) { return cudaGetDeviceCount(count); }
  static status allocate(void** p, std::size_t bytes) { return cudaMalloc(p, bytes); }
  static void release(void* p) { cudaFree(p); }
  static status allocate_on_host(void** p, std::size_t bytes) { return cudaMallocHost(p, bytes); }
  static void release_on_host(void* p) { cudaFreeHost(p); }
  static status make(stream* s) { return cudaStreamCreateWithFlags(s, cudaStreamNonBlocking); }
  static status wait(stream s) { return cudaStreamSynchronize(s); }
  static status make(event* e) { return cudaEventCreateWithFlags(e, cudaEventDisableTiming); }
  static void destroy(event e) { cudaEventDestroy(e); }
  static status wait(event e) { return cudaEventSynchronize(e); }
  static status record(event e, stream s) { return cudaEventRecord(e, s); }
  static status wait(stream s, event e) { return cudaStreamWaitEvent(s, e, 0); }
  static bool is_unfinished(status s) { return s == cudaErrorNotReady; }
  static status ask(stream s) { return cudaStreamQuery(s); }
  static status copy(void* to, void const* from, std::size_t bytes, stream s) { return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, s); }
  static status clear(void* to, std::size_t bytes, stream s) { return cudaMemsetAsync(to, 0, bytes, s); }
  static status upload(void* to, void const* from, std::size_t bytes, stream s) { return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s); }
  static status download(void* to, void const* from, std::size_t bytes, stream s) { return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s); }

  static status begin_capture(stream s) { return cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal); }
  static status end_capture(stream s, captured* to) { return cudaStreamEndCapture(s, to); }
  static status make_ready(runnable* to, captured g) { return cudaGraphInstantiate(to, g, 0); }
  static status start(runnable g, stream s) { return cudaGraphLaunch(g, s); }
  static void destroy(captured g) { cudaGraphDestroy(g); }
  static void destroy(runnable g) { cudaGraphExecDestroy(g); }

  template <class Task>
  using task = started<Task>;
};

}  // namespace tx::backends::cuda
