// Halves in vectors: bf16 and f16 are stored; what is computed with is f32.
#pragma once

#include <tx/backends/cpu/simd.hpp>

namespace tx::backends::cpu {

namespace detail {
template <int W>
struct vector_of_halves {
  typedef std::uint16_t type __attribute__((vector_size(2 * W)));
};
}  // namespace detail

// The bits of W halves side by side, one in the lower part of each lane.
template <int W = lanes, class H>
TX_INLINE simd<i32, W> load_half_bits(H const* p) {
  typename detail::vector_of_halves<W>::type x;
  __builtin_memcpy(&x, p, sizeof x);
  return simd<i32, W>(__builtin_convertvector(x, typename simd<i32, W>::vec));
}

// The values of halves in the lower parts of lanes, whose upper parts are zero.
template <class H, int W>
TX_INLINE simd<f32, W> widen(simd<i32, W> x) {
  using I = simd<i32, W>;
  if constexpr (std::is_same_v<H, bf16>) {
    return bits<f32>(x << 16);
  } else {
    I const magnitude = x & I(0x7fff);
    simd<f32, W> const scaled = bits<f32>(magnitude << 13) * simd<f32, W>(0x1p112f);  // subnormals too
    I const infinite = select(magnitude >= I(0x7c00), I(0x7f800000), I(0));
    return bits<f32>(bits<i32>(scaled) | infinite | ((x & I(0x8000)) << 16));
  }
}

// The nearest values that a half can hold, ties to even: as H::from.
template <class H, int W>
TX_INLINE simd<f32, W> round_to(simd<f32, W> x) {
  if constexpr (std::is_same_v<H, bf16>) {
    using I = simd<i32, W>;
    I const u = bits<i32>(x);
    auto const nan = (u & I(0x7fffffff)) > I(0x7f800000);
    I const up = select(nan, I(0), ((u >> 16) & I(1)) + I(0x7fff));
    return bits<f32>((select(nan, u | I(0x400000), u) + up) & I(-0x10000));
  } else {
    for (int i = 0; i < W; ++i) x.set(i, H::from(x[i]).widen());
    return x;
  }
}

template <class H, int W>
TX_INLINE void store_halves(H* p, simd<f32, W> x) {
  if constexpr (std::is_same_v<H, bf16>) {
    auto const u = __builtin_convertvector((bits<i32>(round_to<H>(x)) >> 16).v, typename detail::vector_of_halves<W>::type);
    __builtin_memcpy(p, &u, sizeof u);
  } else {
    for (int i = 0; i < W; ++i) p[i] = H::from(x[i]);
  }
}

}  // namespace tx::backends::cpu
