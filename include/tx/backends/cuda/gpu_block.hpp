// What a block is on NVIDIA's GPUs: the words of vocabulary.hpp in CUDA.
#pragma once

#include <tx/backends/device/launched_block.hpp>
#include <tx/core/dtype.hpp>

namespace tx::backends::cuda {

struct gpu_block : device::launched_block {
  TX_DEVICE void sync_warp() const { __syncwarp(); }
  TX_DEVICE std::uint32_t ballot(bool x) const { return __ballot_sync(0xffffffffu, x); }
  TX_DEVICE bool last_of(std::uint32_t* count, int blocks) const {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(count, 1u) == static_cast<std::uint32_t>(blocks) - 1;
      if (last) atomicExch(count, 0u);
      __threadfence();
    }
    __syncthreads();
    return last;
  }
  template <class T>
  TX_DEVICE T exchange(T x, int mask) const {
    return __shfl_xor_sync(0xffffffffu, x, mask);
  }
  TX_DEVICE float exp2(float x) const {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));
    return y;
  }

  TX_DEVICE void copy(std::byte* to, std::byte const* from, int bytes) const {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes) : "memory");
  }
  TX_DEVICE void end_copies() const { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
  template <int N>
  TX_DEVICE void wait_copies() const {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
  }
  template <bool Transposed>
  TX_DEVICE device::matrices load_matrices(std::byte const* row) const {
    device::matrices m;
    if constexpr (Transposed)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n" : "=r"(m.part[0]), "=r"(m.part[1]), "=r"(m.part[2]), "=r"(m.part[3]) : "r"(shared_address(row)) : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n" : "=r"(m.part[0]), "=r"(m.part[1]), "=r"(m.part[2]), "=r"(m.part[3]) : "r"(shared_address(row)) : "memory");
    return m;
  }
  template <dtype D>
  TX_DEVICE void add_product(float (&sum)[4], device::matrices const& left, std::uint32_t low, std::uint32_t high) const {
    static_assert(D == dtype::bf16 || D == dtype::f16);
    if constexpr (D == dtype::bf16)
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                   : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(left.part[0]), "r"(left.part[1]), "r"(left.part[2]), "r"(left.part[3]), "r"(low), "r"(high));
    else
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                   : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(left.part[0]), "r"(left.part[1]), "r"(left.part[2]), "r"(left.part[3]), "r"(low), "r"(high));
  }

 private:
  TX_DEVICE static std::uint32_t shared_address(std::byte const* p) { return static_cast<std::uint32_t>(__cvta_generic_to_shared(p)); }
};

}  // namespace tx::backends::cuda
