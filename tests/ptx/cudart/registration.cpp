// What nvcc's own part of a program calls: device code registers itself before main, and kernels are started by the
// addresses of their functions on the host.
#include "../runner/fat_binary.hpp"
#include "../runner/simulated.hpp"

#include "errors.hpp"

#include <algorithm>

namespace {

using ptx::checked;
using ptx::simulated;

struct configuration {
  dim3 grid, threads;
  std::size_t shared;
  cudaStream_t stream;
};
std::vector<configuration>& configurations() {
  static std::vector<configuration> all;
  return all;
}

ptx::dim3 of(dim3 d) { return {d.x, d.y, d.z}; }
ptx::stream* of(cudaStream_t s) { return reinterpret_cast<ptx::stream*>(s); }

cudaError_t launch(void const* host, dim3 grid, dim3 threads, void** arguments, std::size_t shared,
                   cudaStream_t stream) {
  return checked([&] {
    auto const at = simulated::get().functions.find(host);
    if (at == simulated::get().functions.end()) return ptx::tell(cudaErrorInvalidDeviceFunction);
    int const most = at->second.most_dynamic_shared >= 0 ? at->second.most_dynamic_shared
                                                         : (48 << 10) - at->second.code->shared_bytes;
    if (static_cast<int>(shared) > most)
      return ptx::tell(cudaErrorInvalidValue);  // what nvcc's part of the program drops, and the program has to ask for
    simulated::get().start(at->second, of(grid), of(threads), shared, arguments, of(stream));
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  return checked([&] {
    auto& s = simulated::get();
    auto texts = ptx::texts_of(wrapper);
    std::sort(texts.begin(), texts.end(), [](auto const& a, auto const& b) { return a.processor < b.processor; });
    ptx::embedded const* chosen = nullptr;
    for (auto const& t : texts)
      if (s.target() == 0 || t.processor == s.target()) chosen = &t;
    if (chosen == nullptr) throw std::runtime_error("the program has no PTX for the processor that was asked for");
    s.text += chosen->text.c_str();  // without the zero at its end
    return reinterpret_cast<void**>(const_cast<ptx::loaded*>(&s.gpu.load(chosen->text)));
  });
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void** handle, char const* host, char*, char const* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  checked([&] {
    auto const& m = *reinterpret_cast<ptx::loaded const*>(handle);
    auto const at = m.code.kernels.find(name);
    if (at == m.code.kernels.end()) throw std::runtime_error(std::string("the PTX has no kernel ") + name);
    simulated::get().functions[host] = {&m, &at->second, -1};
  });
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 threads, std::size_t shared, void* stream) {
  configurations().push_back({grid, threads, shared, static_cast<cudaStream_t>(stream)});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* threads, std::size_t* shared, void* stream) {
  configuration const c = configurations().back();
  configurations().pop_back();
  *grid = c.grid;
  *threads = c.threads;
  *shared = c.shared;
  *static_cast<cudaStream_t*>(stream) = c.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, void const* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 threads, void** arguments, std::size_t shared,
                               cudaStream_t stream) {
  return launch(kernel, grid, threads, arguments, shared, stream);
}
cudaError_t cudaLaunchKernel(void const* host, dim3 grid, dim3 threads, void** arguments, std::size_t shared,
                             cudaStream_t stream) {
  return launch(host, grid, threads, arguments, shared, stream);
}

}  // extern "C"
