// Halves and E4M3 in vectors: bf16, f16 and e4m3 are stored; what is computed with is f32.
#pragma once

#include <tx/backends/cpu/simd.hpp>

namespace tx::backends::cpu {

namespace detail {
template <class Bits, int W>
struct vector_of_bits {
  typedef Bits type __attribute__((vector_size(sizeof(Bits) * W)));
};
// Of W such elements.
template <class H, int W>
using bits_of = typename vector_of_bits<decltype(H::bits), W>::type;
}  // namespace detail

// The bits of W elements side by side, one in the lower part of each lane.
template <int W = lanes, class H>
TX_INLINE simd<i32, W> load_bits(H const* p) {
  detail::bits_of<H, W> x;
  __builtin_memcpy(&x, p, sizeof x);
  return simd<i32, W>(__builtin_convertvector(x, typename simd<i32, W>::vec));
}

// The values of elements in the lower parts of lanes, whose upper parts are zero.
template <class H, int W>
TX_INLINE simd<f32, W> widen(simd<i32, W> x) {
  using I = simd<i32, W>;
  if constexpr (std::is_same_v<H, e4m3>) {
    I const magnitude = x & I(0x7f);
    I const small = bits<i32>(convert<f32>(magnitude) * simd<f32, W>(0x1p-9f));
    I const number = select(magnitude < I(8), small, (magnitude + I(120 << 3)) << 20);
    return bits<f32>(select(magnitude == I(0x7f), I(0x7fc00000), number) | ((x & I(0x80)) << 24));
  } else
  if constexpr (std::is_same_v<H, bf16>) {
    return bits<f32>(x << 16);
  } else {
    I const magnitude = x & I(0x7fff);
    simd<f32, W> const scaled = bits<f32>(magnitude << 13) * simd<f32, W>(0x1p112f);  // subnormals too
    I const infinite = select(magnitude >= I(0x7c00), I(0x7f800000), I(0));
    return bits<f32>(bits<i32>(scaled) | infinite | ((x & I(0x8000)) << 16));
  }
}

namespace detail {
// The bits of what e4m3::from makes of numbers.
template <int W>
TX_INLINE simd<i32, W> e4m3_bits(simd<f32, W> x) {
  using I = simd<i32, W>;
  I const u = bits<i32>(x), magnitude = u & I(0x7fffffff);
  I const normal = ((magnitude + I(0x7ffff) + ((magnitude >> 20) & I(1))) >> 20) - I(120 << 3);
  I const small = bits<i32>(bits<f32>(magnitude) + simd<f32, W>(0x1p14f)) - bits<i32>(simd<f32, W>(0x1p14f));
  I const number = select(magnitude < I(0x3c800000), small, normal);
  return select(magnitude > I(0x43e80000), I(0x7f), number) | ((u >> 24) & I(0x80));
}
}  // namespace detail

// The nearest values that an element can hold, ties to even: as H::from.
template <class H, int W>
TX_INLINE simd<f32, W> round_to(simd<f32, W> x) {
  if constexpr (std::is_same_v<H, bf16>) {
    using I = simd<i32, W>;
    I const u = bits<i32>(x);
    auto const nan = (u & I(0x7fffffff)) > I(0x7f800000);
    I const up = select(nan, I(0), ((u >> 16) & I(1)) + I(0x7fff));
    return bits<f32>((select(nan, u | I(0x400000), u) + up) & I(-0x10000));
  } else if constexpr (std::is_same_v<H, e4m3>) {
    return widen<e4m3>(detail::e4m3_bits(x));
  } else {
    for (int i = 0; i < W; ++i) x.set(i, H::from(x[i]).widen());
    return x;
  }
}

template <class H, int W>
TX_INLINE void store_rounded(H* p, simd<f32, W> x) {
  if constexpr (std::is_same_v<H, bf16> || std::is_same_v<H, e4m3>) {
    simd<i32, W> which;
    if constexpr (std::is_same_v<H, bf16>) which = bits<i32>(round_to<H>(x)) >> 16;
    else which = detail::e4m3_bits(x);
    auto const u = __builtin_convertvector(which.v, detail::bits_of<H, W>);
    __builtin_memcpy(p, &u, sizeof u);
  } else {
    for (int i = 0; i < W; ++i) p[i] = H::from(x[i]);
  }
}

}  // namespace tx::backends::cpu
