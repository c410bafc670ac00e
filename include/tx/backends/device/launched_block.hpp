// What a block of a launch is to CUDA and HIP alike: the words of vocabulary.hpp that both say in the same way.
#pragma once

#include <tx/backends/device/vocabulary.hpp>

#if !defined(__CUDACC__) && !defined(__HIPCC__)
#error "tx/backends/device/launched_block.hpp is for sources that nvcc or hipcc compiles. FIX: name the file .cu or .hip, or use <tx/backends/cpu.hpp>"
#endif

namespace tx::backends::device {

struct launched_block {
  TX_DEVICE int thread() const { return static_cast<int>(threadIdx.x); }
  TX_DEVICE int threads() const { return static_cast<int>(blockDim.x); }
  TX_DEVICE int block() const { return static_cast<int>(blockIdx.x); }
  TX_DEVICE int blocks() const { return static_cast<int>(gridDim.x); }
  TX_DEVICE std::byte* shared() const {
    extern __shared__ __align__(16) std::byte room[];
    return room;
  }
  TX_DEVICE void sync() const { __syncthreads(); }
};

}  // namespace tx::backends::device
