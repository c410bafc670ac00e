// Scores are kept as logarithms to base 2, log2(e) times what they are: then exp is a power of two, with less to do.
#pragma once

#include <tx/backends/cpu/vector_math.hpp>
#include <tx/nn/key_mask.hpp>

namespace tx::backends::cpu::detail {

inline constexpr f32 log2_e = 0x1.715476p+0f, ln_2 = 0x1.62e430p-1f;

inline constexpr f32 masked = static_cast<f32>(nn::masked_score) * log2_e;
// No score of keys that take part is so low, nor the logarithm of their sum to either base.
inline constexpr f32 nearly_masked = static_cast<f32>(nn::masked_score) / 2;

// 2^x for what is not above 1; 0 from -150 on, and without denormals from -127 on. Within 2 units in the last place. Coefficients:
// tools/fit_polynomials.py.
TX_INLINE simd<f32> power_of_negative(simd<f32> x) {
  constexpr f32 round = 0x1.8p23f;  // adding it leaves no fraction bits
#if defined(__AVX512F__)
  x = max(x, simd<f32>(-150.f));
#else
  x = max(x, simd<f32>(-127.f));  // whose power has no bits set
#endif
  auto const n = x + round - round;
  auto const p = polynomial(x - n, 1.f, 0.693147004f, 0.240222231f, 0.0555064939f, 0.00967274047f, 0.00133045507f);
#if defined(__AVX512F__)
  return scale(p, n);
#else
  return p * power_of_two(convert<i32>(n));
#endif
}

}  // namespace tx::backends::cpu::detail
