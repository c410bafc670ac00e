// Independent chains of what products are made of, on registers: no product can exceed their rate.
#pragma once

#include <tx/backends/cpu/gemm_amx.hpp>

namespace bench {

inline constexpr int fma_chains = 10;
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
  V x0(0), x1 = x0, x2 = x0, x3 = x0, x4 = x0, x5 = x0, x6 = x0, x7 = x0, x8 = x0, x9 = x0;
  auto const next = [&](V& x) { x = step::multiply_add(a, b, x); };
  for (int i = 0; i < steps; ++i) {
    next(x0), next(x1), next(x2), next(x3), next(x4), next(x5), next(x6), next(x7), next(x8), next(x9);
    // Keeps the compiler from seeing that the chains are equal.
    asm volatile("" : "+x"(x0.v), "+x"(x1.v), "+x"(x2.v), "+x"(x3.v), "+x"(x4.v));
    asm volatile("" : "+x"(x5.v), "+x"(x6.v), "+x"(x7.v), "+x"(x8.v), "+x"(x9.v));
  }
  return reduce_add(x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9);
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
