// e to the power of what is not above 1, as probabilities are of scores: score - greatest is exact, so nothing is lost however large both are. The factor
// log2(e) goes into two fmas that are needed anyway.
#pragma once

#include <tx/backends/cpu/vector_math.hpp>
#include <tx/ops/attention_facts.hpp>

namespace tx::backends::cpu::detail {

inline constexpr f32 masked = static_cast<f32>(masked_score), lowest = static_cast<f32>(lowest_score);
// No score of keys that take part is so low.
inline constexpr f32 nearly_masked = static_cast<f32>(masked_score) / 2;

// e^x for x <= 1; 0 from -104 on, and without denormals from -88 on. Within 2 units in the last place, and as many as -x / 6 more. Coefficients:
// tools/fit_polynomials.py.
TX_INLINE simd<f32> exp_of_negative(simd<f32> x) {
  constexpr f32 round = 0x1.8p23f;  // adding it leaves no fraction bits
  simd<f32> const log2_e(0x1.715476p+0f);
#if defined(__AVX512F__)
  x = max(x, simd<f32>(-104.f));
#else
  x = max(x, simd<f32>(-88.f));  // whose power has no bits set
#endif
  auto const n = fma(x, log2_e, simd<f32>(round)) - round;
  auto const p = polynomial(fma(x, log2_e, -n), 1.f, 0.693147004f, 0.240222231f, 0.0555064939f, 0.00967274047f, 0.00133045507f);
#if defined(__AVX512F__)
  return scale(p, n);
#else
  return p * power_of_two(convert<i32>(n));
#endif
}
// The same in f64, within 2 units in the last place; 0 from -709 on. What is left beside a power of two is at most ln(2) / 2: its series to the 13th power.
TX_INLINE simd<f64> exp_of_negative(simd<f64> x) {
  constexpr f64 round = 0x1.8p52;  // adding it leaves no fraction bits
  x = max(x, simd<f64>(-709.));    // whose power has no bits set
  auto const t = fma(x, simd<f64>(0x1.71547652b82fep+0), simd<f64>(round)), n = t - round;
  auto const r = fma(n, simd<f64>(-0x1.abc9e3b39803fp-56), fma(n, simd<f64>(-0x1.62e42fefa39efp-1), x));
  auto const p = polynomial(r, 1., 1., 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800);
  return p * bits<f64>((bits<i64>(t) + simd<i64>(1023)) << 52);
}

}  // namespace tx::backends::cpu::detail
