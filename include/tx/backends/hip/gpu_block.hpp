// What a block is on AMD's GPUs: the words of backends/device/vocabulary.hpp in HIP. A wavefront of 64 lanes is two of the 32 lanes that kernels call a warp:
// its lanes run together, so the two may take different ways, each waiting for itself alone. A wavefront of 32 is one.
#pragma once

#include <hip/hip_runtime.h>  // first: it brings HIP's names

#include <tx/backends/device/launched_block.hpp>
#include <tx/core/dtype.hpp>

#include <cstring>

namespace tx::backends::hip {

struct gpu_block : device::launched_block {
  // What lanes have written to memory before is there for the others of the wavefront.
  TX_DEVICE void sync_warp() const {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
  }
  TX_DEVICE std::uint32_t ballot(bool x) const {
    std::uint64_t const of_wavefront = __ballot(x);
    return static_cast<std::uint32_t>(of_wavefront >> (__lane_id() & 32u));
  }
  TX_DEVICE bool last_of(std::uint32_t* count, int blocks) const {
    __shared__ bool last;
    __threadfence();  // each thread's own stores: a fence of one hands on nobody else's everywhere
    __syncthreads();
    if (threadIdx.x == 0) {
      last = atomicAdd(count, 1u) == static_cast<std::uint32_t>(blocks) - 1;
      if (last) atomicExch(count, 0u);
      __threadfence();
    }
    __syncthreads();
    return last;
  }
  template <class T>
  TX_DEVICE T exchange(T x, int mask) const {
    static_assert(sizeof(T) <= 8);
    int words[2] = {};
    std::memcpy(words, &x, sizeof x);
    words[0] = __shfl_xor(words[0], mask, device::warp);
    if constexpr (sizeof(T) > 4) words[1] = __shfl_xor(words[1], mask, device::warp);
    std::memcpy(&x, words, sizeof x);
    return x;
  }
  template <dtype D>
  TX_DEVICE void add_wavefront_product(float (&sum)[4], std::uint32_t const (&left)[2], std::uint32_t const (&right)[2]) const {
    static_assert(D == dtype::bf16);
    using halves = short __attribute__((ext_vector_type(4)));
    using floats = float __attribute__((ext_vector_type(4)));
    halves a, b;
    floats all;
    std::memcpy(&a, left, sizeof a);
    std::memcpy(&b, right, sizeof b);
    std::memcpy(&all, sum, sizeof all);
    all = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, all, 0, 0, 0);
    std::memcpy(sum, &all, sizeof all);
  }
};

}  // namespace tx::backends::hip
