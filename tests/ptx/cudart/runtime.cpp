// CUDA's runtime, as far as tx uses it: memory, streams, events, graphs.
#include "../runner/simulated.hpp"

#include "errors.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace {

using ptx::checked;
using ptx::simulated;
using ptx::tell;

ptx::stream* of(cudaStream_t s) { return reinterpret_cast<ptx::stream*>(s); }
// With a time: launches that were done before it, and copies within the device. Each takes a millisecond here.
struct event : ptx::event {
  bool has_time = false;
  std::shared_ptr<long> launches = std::make_shared<long>(-1);
};
event* of(cudaEvent_t e) { return reinterpret_cast<event*>(e); }

// Memory of the host that is pinned lies among the device's, whose kernels reach it by the same addresses.
bool on_device(void const* p) { return simulated::get().gpu.memory.holds(p, 1) && !simulated::get().is_pinned(p); }

// What a copy says of its ends has to be so.
void check_ends(void const* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
  auto const& memory = simulated::get().gpu.memory;
  bool const to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice,
             from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind == cudaMemcpyDefault || bytes == 0) return;
  auto const check = [&](void const* p, bool device, char const* which) {
    if (simulated::get().is_pinned(p)) return;
    if (device && !memory.holds(p, bytes))
      throw std::runtime_error(std::string("a copy ") + which + " the device: " + std::to_string(bytes) + " bytes at " +
                               memory.whereabouts(reinterpret_cast<std::uint64_t>(p)));
    if (!device && on_device(p))
      throw std::runtime_error(std::string("a copy ") + which + " the host, at an address of the device");
  };
  check(to, to_device, "to");
  check(from, from_device, "from");
}

// Bytes that nobody wrote stay so; the host may not have them.
void copy(void* to, void const* from, std::size_t bytes) {
  auto& gpu = simulated::get().gpu;
  ptx::record const* const source = gpu.memory.records(from, bytes);
  ptx::record* const target = gpu.memory.records(to, bytes);
  std::memmove(to, from, bytes);
  gpu.memory.written(to, bytes, gpu.time.now());
  for (std::size_t k = 0; source != nullptr && k < bytes; ++k) {
    if (source[k].written.when != 0) continue;
    if (target == nullptr)
      throw std::runtime_error("a copy to the host of memory that nobody wrote: " +
                               gpu.memory.whereabouts(reinterpret_cast<std::uint64_t>(from) + k));
    target[k].written.when = 0;
  }
}

// Memory of the host that is not pinned is read before the call returns, but may land later; it is written before the
// call returns.
cudaError_t copy_in(cudaStream_t stream, void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                    bool waits) {
  return checked([&] {
    auto& s = simulated::get();
    check_ends(to, from, bytes, kind);
    bool const captured = s.streams.of(of(stream)).into != nullptr, in_device = on_device(from) && on_device(to);
    if (on_device(from) || s.is_pinned(from) || captured) {
      s.streams.add(of(stream), [=] {
        copy(to, from, bytes);
        simulated::get().launches += in_device;
      });
      if (waits && !in_device) s.streams.finish(of(stream));
    } else {
      if (waits) s.streams.finish(of(stream));
      auto const* const first = static_cast<std::byte const*>(from);
      s.streams.add(of(stream),
                    [=, now = std::vector<std::byte>(first, first + bytes)] { copy(to, now.data(), bytes); });
    }
    if (!captured && !on_device(to) && !s.is_pinned(to)) s.streams.finish(of(stream));
    return cudaSuccess;
  });
}

cudaError_t fill_in(cudaStream_t stream, void* to, int value, std::size_t bytes) {
  return checked([&] {
    if (!simulated::get().gpu.memory.holds(to, bytes)) return tell(cudaErrorInvalidValue);
    simulated::get().streams.add(of(stream), [=] {
      std::memset(to, value, bytes);
      simulated::get().gpu.memory.written(to, bytes, simulated::get().gpu.time.now());
    });
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  return checked([&] {
    *p = simulated::get().gpu.memory.allocate(bytes);
    return cudaSuccess;
  });
}
cudaError_t cudaFree(void* p) {
  return checked([&] {
    simulated::get().streams.finish_all();
    return p == nullptr || simulated::get().gpu.memory.release(p) ? cudaSuccess : tell(cudaErrorInvalidValue);
  });
}
cudaError_t cudaMallocHost(void** p, std::size_t bytes) {
  return checked([&] {
    auto& s = simulated::get();
    *p = s.gpu.memory.allocate(bytes);
    s.gpu.memory.written(*p, bytes, s.gpu.time.now());  // by the host, which nobody can watch
    s.pinned[static_cast<std::byte*>(*p)] = bytes;
    return cudaSuccess;
  });
}
cudaError_t cudaFreeHost(void* p) {
  return checked([&] {
    simulated::get().streams.finish_all();
    if (simulated::get().pinned.erase(static_cast<std::byte*>(p)) == 0) return tell(cudaErrorInvalidValue);
    return simulated::get().gpu.memory.release(p) ? cudaSuccess : tell(cudaErrorInvalidValue);
  });
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = std::size_t{80} << 30;
  std::size_t of_host = 0;
  for (auto const& [first, count] : simulated::get().pinned) of_host += count;
  *free = *total - (simulated::get().gpu.memory.in_use() - of_host);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy_in(nullptr, to, from, bytes, kind, true);
}
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_in(stream, to, from, bytes, kind, false);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) { return fill_in(nullptr, to, value, bytes); }
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return fill_in(stream, to, value, bytes);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  *stream = reinterpret_cast<cudaStream_t>(simulated::get().streams.make((flags & cudaStreamNonBlocking) == 0));
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return checked([&] {
    simulated::get().streams.destroy(of(stream));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return checked([&] {
    if (simulated::get().streams.of(of(stream)).into != nullptr) return tell(cudaErrorStreamCaptureUnsupported);
    simulated::get().streams.finish(of(stream));
    return cudaSuccess;
  });
}
// Not yet done, until somebody asks: then it is.
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaDeviceSynchronize() {
  return checked([&] {
    if (simulated::get().streams.captures()) return tell(cudaErrorStreamCaptureUnsupported);
    simulated::get().streams.finish_all();
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned flags) {
  auto* const made = new event;
  made->has_time = (flags & cudaEventDisableTiming) == 0;
  *e = reinterpret_cast<cudaEvent_t>(made);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* e) { return cudaEventCreateWithFlags(e, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  delete of(e);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream) {
  return checked([&] {
    auto& s = simulated::get();
    if (of(e)->has_time && s.streams.of(of(stream)).into == nullptr)
      s.streams.add(of(stream), [to = of(e)->launches] { *to = simulated::get().launches; });
    s.streams.record(*of(e), of(stream));
    return cudaSuccess;
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return checked([&] {
    if (!of(start)->has_time || !of(end)->has_time) return tell(cudaErrorInvalidResourceHandle);
    if (*of(start)->launches < 0 || *of(end)->launches < 0) return tell(cudaErrorNotReady);
    *milliseconds = static_cast<float>(*of(end)->launches - *of(start)->launches);
    return cudaSuccess;
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  return checked([&] {
    simulated::get().streams.finish(*of(e));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t e, unsigned) {
  return checked([&] {
    simulated::get().streams.wait(of(stream), *of(e));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return checked([&] {
    simulated::get().streams.begin_capture(of(stream));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return checked([&] {
    bool const captured = simulated::get().streams.of(of(stream)).into != nullptr;
    *status = captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}
using graph_handle = std::shared_ptr<ptx::captured>;

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return checked([&] {
    auto const all = simulated::get().streams.end_capture(of(stream));
    *graph = all == nullptr ? nullptr : reinterpret_cast<cudaGraph_t>(new graph_handle(all));
    return all == nullptr ? tell(cudaErrorIllegalState) : cudaSuccess;
  });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* runs, cudaGraph_t graph, unsigned long long) {
  *runs = reinterpret_cast<cudaGraphExec_t>(new graph_handle(*reinterpret_cast<graph_handle*>(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t runs, cudaStream_t stream) {
  return checked([&] {
    simulated::get().streams.launch(**reinterpret_cast<graph_handle*>(runs), of(stream));
    return cudaSuccess;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<graph_handle*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t runs) {
  delete reinterpret_cast<graph_handle*>(runs);
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(void const* host, cudaFuncAttribute what, int value) {
  auto const f = simulated::get().functions.find(host);
  if (f == simulated::get().functions.end()) return tell(cudaErrorInvalidDeviceFunction);
  if (what != cudaFuncAttributeMaxDynamicSharedMemorySize) return tell(cudaErrorNotSupported);
  f->second.most_dynamic_shared = value;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int number) { return number == 0 ? cudaSuccess : tell(cudaErrorInvalidDevice); }
cudaError_t cudaGetDevice(int* number) {
  *number = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int number) {
  if (number != 0) return tell(cudaErrorInvalidDevice);
  *to = {};
  std::strcpy(to->name, "simulated");
  to->multiProcessorCount = 1;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return std::exchange(ptx::last_error, cudaSuccess); }
char const* cudaGetErrorString(cudaError_t e) {
  return e == cudaSuccess ? "no error" : "an error that the simulated device told";
}

}  // extern "C"
