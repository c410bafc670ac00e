// What the device backend asks HIP's runtime for: https://rocm.docs.amd.com/projects/HIP. tx/backends/cuda/driver.hpp is the same of CUDA.
#pragma once

#include <tx/config.hpp>

#if !defined(__HIPCC__)
#error "tx/backends/hip.hpp is for sources that hipcc compiles. FIX: name the file .hip, or use <tx/backends/cpu.hpp>"
#endif

#include <hip/hip_runtime.h>

namespace tx::backends::hip {

// A task's arguments lie in constant memory.
template <class Block, class Task>
__global__ void __launch_bounds__(Task::threads) run_task(typename Task::arguments const a) {
  Block b;
  Task::run(b, a);
}

struct driver {
  static constexpr char const* name = "hip";
  static constexpr char const* no_device = "this machine has no usable AMD device. FIX: use tx::cpu, or install ROCm's driver";
  using status = hipError_t;
  using stream = hipStream_t;
  using captured = hipGraph_t;
  using runnable = hipGraphExec_t;  // a captured run that has been made ready
  static constexpr status success = hipSuccess;
  static char const* text(status s) { return hipGetErrorString(s); }

  static bool has_device() {
    int devices = 0;
    return hipGetDeviceCount(&devices) == success && devices > 0;
  }
  static status allocate(void** p, std::size_t bytes) { return hipMalloc(p, bytes); }
  static void release(void* p) { static_cast<void>(hipFree(p)); }
  static status make(stream* s) { return hipStreamCreateWithFlags(s, hipStreamNonBlocking); }
  static status wait(stream s) { return hipStreamSynchronize(s); }
  static status clear(void* to, std::size_t bytes, stream s) { return hipMemsetAsync(to, 0, bytes, s); }
  static status upload(void* to, void const* from, std::size_t bytes, stream s) { return hipMemcpyAsync(to, from, bytes, hipMemcpyHostToDevice, s); }
  static status download(void* to, void const* from, std::size_t bytes, stream s) { return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToHost, s); }

  static status begin_capture(stream s) { return hipStreamBeginCapture(s, hipStreamCaptureModeThreadLocal); }
  static status end_capture(stream s, captured* to) { return hipStreamEndCapture(s, to); }
  static status make_ready(runnable* to, captured g) { return hipGraphInstantiate(to, g, nullptr, nullptr, 0); }
  static status start(runnable g, stream s) { return hipGraphLaunch(g, s); }
  static void destroy(captured g) { static_cast<void>(hipGraphDestroy(g)); }
  static void destroy(runnable g) { static_cast<void>(hipGraphExecDestroy(g)); }

  // A block's shared memory is one size, without asking.
  template <class Block, class Task, int BlocksBeside>
  static status allow_shared(std::int64_t) {
    return success;
  }
  template <class Block, class Task, int BlocksBeside>
  static status start(int blocks, int threads, std::int64_t shared_bytes, stream s, typename Task::arguments const& a) {
    run_task<Block, Task><<<dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), static_cast<unsigned>(shared_bytes), s>>>(a);
    return hipGetLastError();
  }
};

}  // namespace tx::backends::hip
