// Device code of tasks on AMD's GPUs, for sources that hipcc compiles.
#pragma once

#include <tx/backends/hip/gpu_block.hpp>
#include <tx/backends/hip/driver.hpp>

namespace tx::backends::hip {

// A task's arguments lie in constant memory.
template <class Task>
__global__ void __launch_bounds__(Task::threads) run_task(typename Task::arguments const a) {
  gpu_block b;
  Task::run(b, a);
}

// A block's shared memory is one size, without asking.
template <class Task>
hipError_t started<Task>::allow(std::int64_t) {
  return hipSuccess;
}
template <class Task>
hipError_t started<Task>::start(int blocks, int threads, std::int64_t shared_bytes, hipStream_t s, typename Task::arguments const& a) {
  run_task<Task><<<dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), static_cast<unsigned>(shared_bytes), s>>>(a);
  return hipGetLastError();
}

}  // namespace tx::backends::hip
