// What the device backend asks HIP's runtime for: https://rocm.docs.amd.com/projects/HIP. tx/backends/cuda/driver.hpp is the same of CUDA.
#pragma once

#include <tx/backends/hip/target.hpp>

#if !defined(__HIPCC__) && !defined(__HIP_PLATFORM_AMD__)
#define __HIP_PLATFORM_AMD__ 1
#endif
#if !__has_include(<hip/hip_runtime_api.h>)
#error "tx/backends/hip.hpp needs the headers of ROCm. FIX: tx_add_program(... BACKENDS hip), which finds them, or use <tx/backends/cpu.hpp>"
#endif

#include <hip/hip_runtime_api.h>

namespace tx::backends::hip {

// How a task is started: defined in device_code.hpp, as backends/cuda/driver.hpp tells.
template <class Task>
struct started {
  static hipError_t allow(std::int64_t shared_bytes);
  static hipError_t start(int blocks, int threads, std::int64_t shared_bytes, hipStream_t s, typename Task::arguments const& a);
};

struct driver {
  static constexpr char const* name = "hip";
  static constexpr device::matrix_units units = device::matrix_units::none;  // halves are multiplied as floats
  static constexpr char const *vendor = "AMD", *lacking = "install ROCm's driver";
  using status = hipError_t;
  using stream = hipStream_t;
  using event = hipEvent_t;
  using captured = hipGraph_t;
  using runnable = hipGraphExec_t;  // a captured run that has been made ready
  static constexpr status success = hipSuccess;
  static char const* text(status s) { return hipGetErrorString(s); }

  static status use(int number) { return hipSetDevice(number); }
  static status count_devices(int* count) { return hipGetDeviceCount(count); }
  static status allocate(void** p, std::size_t bytes) { return hipMalloc(p, bytes); }
  static void release(void* p) { static_cast<void>(hipFree(p)); }
  static status allocate_on_host(void** p, std::size_t bytes) { return hipHostMalloc(p, bytes, hipHostMallocDefault); }
  static void release_on_host(void* p) { static_cast<void>(hipHostFree(p)); }
  static status make(stream* s) { return hipStreamCreateWithFlags(s, hipStreamNonBlocking); }
  static status wait(stream s) { return hipStreamSynchronize(s); }
  static status make(event* e) { return hipEventCreateWithFlags(e, hipEventDisableTiming); }
  static void destroy(event e) { static_cast<void>(hipEventDestroy(e)); }
  static status wait(event e) { return hipEventSynchronize(e); }
  static status record(event e, stream s) { return hipEventRecord(e, s); }
  static status wait(stream s, event e) { return hipStreamWaitEvent(s, e, 0); }
  static bool is_unfinished(status s) { return s == hipErrorNotReady; }
  static status ask(stream s) { return hipStreamQuery(s); }
  static status copy(void* to, void const* from, std::size_t bytes, stream s) { return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, s); }
  static status clear(void* to, std::size_t bytes, stream s) { return hipMemsetAsync(to, 0, bytes, s); }
  static status upload(void* to, void const* from, std::size_t bytes, stream s) { return hipMemcpyAsync(to, from, bytes, hipMemcpyDefault, s); }
  static status download(void* to, void const* from, std::size_t bytes, stream s) { return hipMemcpyAsync(to, from, bytes, hipMemcpyDefault, s); }

  static status begin_capture(stream s) { return hipStreamBeginCapture(s, hipStreamCaptureModeThreadLocal); }
  static status end_capture(stream s, captured* to) { return hipStreamEndCapture(s, to); }
  static status make_ready(runnable* to, captured g) { return hipGraphInstantiate(to, g, nullptr, nullptr, 0); }
  static status start(runnable g, stream s) { return hipGraphLaunch(g, s); }
  static void destroy(captured g) { static_cast<void>(hipGraphDestroy(g)); }
  static void destroy(runnable g) { static_cast<void>(hipGraphExecDestroy(g)); }

  template <class Task>
  using task = started<Task>;
};

// Of processors with matrix cores: gfx90a, gfx94*, gfx95*.
struct mfma_driver : driver {
  static constexpr device::matrix_units units = device::matrix_units::of_wavefronts;
};

}  // namespace tx::backends::hip
