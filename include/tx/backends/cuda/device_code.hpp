// Device code of tasks on NVIDIA's GPUs, for sources that nvcc compiles.
#pragma once

#include <tx/backends/cuda/driver.hpp>
#include <tx/backends/cuda/gpu_block.hpp>

#include <cuda_runtime.h>

namespace tx::backends::cuda {

// Blocks that a multiprocessor has at once, where a task asks for so many: the compiler keeps registers for them.
template <class Task>
inline constexpr int blocks_beside = [] {
  if constexpr (requires { Task::blocks_beside; }) return Task::blocks_beside;
  else return 1;
}();

// A task's arguments lie in constant memory.
template <class Task>
__global__ void __launch_bounds__(Task::threads, blocks_beside<Task>) run_task(__grid_constant__ typename Task::arguments const a) {
  gpu_block b;
  Task::run(b, a);
}

template <class Task>
cudaError_t started<Task>::allow(std::int64_t shared_bytes) {
  return cudaFuncSetAttribute(run_task<Task>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
}
template <class Task>
cudaError_t started<Task>::start(int blocks, int threads, std::int64_t shared_bytes, cudaStream_t s, typename Task::arguments const& a) {
  run_task<Task><<<blocks, threads, static_cast<std::size_t>(shared_bytes), s>>>(a);
  return cudaGetLastError();
}

}  // namespace tx::backends::cuda
