// The CUDA backend: kernels generated for NVIDIA's GPUs. For sources that nvcc compiles, one of a program.
#pragma once

#include <tx/backends/cuda/gpu.hpp>
#include <tx/backends/cuda/graphs.hpp>
#include <tx/backends/cuda/whole_kernels.hpp>

namespace tx {

struct cuda {
  static constexpr tx::target const& target = cuda_target;
  using device = backends::cuda::gpu;
  template <class Signature>
  using kernel = backends::cuda::kernel<device, Signature>;

  static std::byte* allocate(std::int64_t count) {
    void* p = nullptr;
    device::check(cudaMalloc(&p, static_cast<std::size_t>(count)), "out of device memory");
    return static_cast<std::byte*>(p);
  }
  static void release(std::byte* p, std::int64_t) { cudaFree(p); }
  static int default_threads() { return 1; }
  static void check_machine() {
    if (!available()) throw error("cuda: this machine has no usable NVIDIA device. FIX: use tx::cpu, or install the driver");
  }
  static bool available() {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  }

  static cudaStream_t stream() { return device::stream(); }
  using replay = backends::cuda::graphs;

  // The host does not reach the device's memory.
  static void clear(std::byte* to, std::int64_t count) { device::clear(to, count); }
  static void upload(std::byte* to, std::byte const* from, std::int64_t count) {
    device::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count), cudaMemcpyHostToDevice, stream()), "copying to the device");
    device::check(cudaStreamSynchronize(stream()), "copying to the device");
  }
  static void download(std::byte* to, std::byte const* from, std::int64_t count) {
    device::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count), cudaMemcpyDeviceToHost, stream()), "copying from the device");
    device::check(cudaStreamSynchronize(stream()), "computing on the device, or copying from it");
  }
};

}  // namespace tx
