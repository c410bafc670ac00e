// Independent chains of what products are made of, on registers: no product can exceed their rate.
#pragma once

#include <tx/backends/cpu/gemm_amx.hpp>

namespace bench {

// Two a cycle for up to ten cycles of latency; AVX2 has fewer registers, and no slow steps.
inline constexpr int fma_chains = tx::backends::cpu::lanes == 16 ? 20 : 12;
// FLOPs of one vector step: a fma of each lane, of halves two.
template <class T>
inline constexpr double step_flops = 2. * tx::backends::cpu::detail::product_of<T>::lanes * tx::backends::cpu::detail::product_of<T>::elements;

// `steps` steps of whole vectors in each chain; returns a number that depends on all of them.
template <class T>
auto run_fma_chains(int steps) {
  using step = tx::backends::cpu::detail::product_of<T>;
  using V = typename step::sums;
  typename step::unit const numbers[2] = {};
  auto a = step::broadcast(numbers[0]), b = step::broadcast(numbers[1]);
  asm volatile("" : "+x"(a.v), "+x"(b.v));  // any numbers, as far as the compiler knows
  V x[fma_chains];
#pragma GCC unroll 32
  for (V& chain : x) chain = V(0);
  for (int i = 0; i < steps; ++i) {
#pragma GCC unroll 32
    for (V& chain : x) {
      chain = step::multiply_add(a, b, chain);
      asm volatile("" : "+x"(chain.v));  // keeps the compiler from seeing that the chains are equal
    }
  }
  V sum(0);
#pragma GCC unroll 32
  for (V const& chain : x) sum = sum + chain;
  return reduce_add(sum);
}

#if TX_HAS_AMX
// The same of tiles on a matrix unit, four at once. FLOPs of a step:
inline constexpr double tile_step_flops = 4 * 2. * 16 * 16 * 32;
inline void run_tile_chains(int steps) {
  using namespace tx::backends::cpu;
  static constexpr half_pair<tx::bf16> zeros[32 * 16] = {};
  tx::f32 sums[32 * 32];
  detail::matrix_tiles tiles{};
  tiles.run(32, 32, 16, {zeros, 16, 1}, zeros, 32, sums, 32, false, nullptr, 0);  // shapes and loads the registers
  for (int i = 0; i < steps; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}
#endif

}  // namespace bench
