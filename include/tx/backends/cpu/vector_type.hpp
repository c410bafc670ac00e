// Compiler vector types, and the few instructions that neither operators nor built-ins of GCC and clang reach.
#pragma once

#include <tx/core/dtype.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace tx::backends::cpu {

#if defined(__AVX512F__)
inline constexpr int lanes = 16;  // f32 values in a register
#elif defined(__AVX__)
inline constexpr int lanes = 8;
#else
inline constexpr int lanes = 4;
#endif

inline constexpr int vector_bytes = 4 * lanes;

// Values of T in a register: simd<f64, lanes_of<f64>> is one register, simd<f64> (as many as in a simd<f32>) two.
template <class T>
inline constexpr int lanes_of = vector_bytes / static_cast<int>(sizeof(T));

namespace detail {

template <class T, int W>
struct vector_type {
  typedef T type __attribute__((vector_size(W * sizeof(T))));
};
template <class T, int W>
using vector_t = typename vector_type<T, W>::type;

template <class T>
using lane_t = std::conditional_t<std::is_same_v<T, bool>, i32, T>;  // a mask's lanes are 0 or -1

template <class T, int W>
inline constexpr bool wide = W * static_cast<int>(sizeof(lane_t<T>)) > vector_bytes;

// The masked forms with every lane on: GCC 12's headers read an uninitialised register in the plain ones, and warn.
template <class V>
TX_INLINE V sqrt_of(V v) {
  using T = std::remove_cvref_t<decltype(v[0])>;
  constexpr bool single = sizeof(T) == 4;
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    if constexpr (single) return (V)_mm512_maskz_sqrt_ps(0xffff, (__m512)v);
    else return (V)_mm512_maskz_sqrt_pd(0xff, (__m512d)v);
  } else
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32) {
    if constexpr (single) return (V)_mm256_sqrt_ps((__m256)v);
    else return (V)_mm256_sqrt_pd((__m256d)v);
  } else
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(V) == 16) {
    if constexpr (single) return (V)_mm_sqrt_ps((__m128)v);
    else return (V)_mm_sqrt_pd((__m128d)v);
  } else
#endif
  {
    for (unsigned i = 0; i < sizeof(V) / sizeof(T); ++i) {
      if constexpr (single) v[i] = __builtin_sqrtf(v[i]);
      else v[i] = __builtin_sqrt(v[i]);
    }
    return v;
  }
}

template <class V>
TX_INLINE V floor_of(V v) {
  using T = std::remove_cvref_t<decltype(v[0])>;
  constexpr bool single = sizeof(T) == 4;
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    constexpr int down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    if constexpr (single) return (V)_mm512_maskz_roundscale_ps(0xffff, (__m512)v, down);
    else return (V)_mm512_maskz_roundscale_pd(0xff, (__m512d)v, down);
  } else
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32) {
    if constexpr (single) return (V)_mm256_floor_ps((__m256)v);
    else return (V)_mm256_floor_pd((__m256d)v);
  } else
#endif
  if constexpr (single) {
    using I = vector_t<i32, static_cast<int>(sizeof(V) / 4)>;
    V const t = __builtin_convertvector(__builtin_convertvector(v, I), V);
    V const down = t > v ? t - 1.f : t;
    I const magnitude = (I)v & 0x7fffffff;
    V const signed_zero = (V)((I)down | ((I)v & ~0x7fffffff));
    return magnitude < 0x4b000000 ? signed_zero : v;  // from 2^23 on every value is an integer
  } else {
    for (unsigned i = 0; i < sizeof(V) / sizeof(T); ++i) v[i] = __builtin_floor(v[i]);
    return v;
  }
}

#if defined(__FMA__) || defined(__aarch64__)
template <class V>
TX_INLINE V fma_by_lanes(V a, V b, V c) {
  using T = std::remove_cvref_t<decltype(a[0])>;
  for (unsigned i = 0; i < sizeof(V) / sizeof(T); ++i) {
    if constexpr (sizeof(T) == 4) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    else c[i] = __builtin_fma(a[i], b[i], c[i]);
  }
  return c;
}
#endif

template <class V>
TX_INLINE V fma_of(V a, V b, V c) {
  [[maybe_unused]] constexpr bool single = sizeof(a[0]) == 4;
#if defined(__FMA__)
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    if constexpr (single) return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
    else return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
  } else
#endif
  if constexpr (sizeof(V) == 32) {
    if constexpr (single) return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
    else return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
  } else if constexpr (sizeof(V) == 16) {
    if constexpr (single) return (V)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
    else return (V)_mm_fmadd_pd((__m128d)a, (__m128d)b, (__m128d)c);
  } else {
    return fma_by_lanes(a, b, c);
  }
#elif defined(__aarch64__)
  if constexpr (sizeof(V) == 16 && single) return (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
  else if constexpr (sizeof(V) == 16) return (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
  else return fma_by_lanes(a, b, c);
#else
  return a * b + c;
#endif
}

#if defined(__AVX__)
// -1 in the first n lanes.
template <class T, int W>
TX_INLINE auto first(int n) {
  using index = std::conditional_t<sizeof(T) == 4, i32, i64>;
  return [n]<int... I>(std::integer_sequence<int, I...>) {
    return vector_t<index, W>{I...} < (static_cast<index>(n) - vector_t<index, W>{});
  }(std::make_integer_sequence<int, W>{});
}
#endif

template <class V, class T>
TX_INLINE V load_first(T const* p, int n) {
  constexpr int W = static_cast<int>(sizeof(V) / sizeof(T));
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    if constexpr (W == 16) return (V)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << n) - 1u), p);
    else return (V)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << n) - 1u), p);
  } else
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32) {
    if constexpr (W == 8) return (V)_mm256_maskload_ps(reinterpret_cast<float const*>(p), (__m256i)first<T, W>(n));
    else return (V)_mm256_maskload_pd(reinterpret_cast<double const*>(p), (__m256i)first<T, W>(n));
  } else if constexpr (sizeof(V) == 16) {
    if constexpr (W == 4) return (V)_mm_maskload_ps(reinterpret_cast<float const*>(p), (__m128i)first<T, W>(n));
    else return (V)_mm_maskload_pd(reinterpret_cast<double const*>(p), (__m128i)first<T, W>(n));
  } else
#endif
  {
    V v{};
    for (int i = 0; i < W; ++i)
      if (i < n) v[i] = p[i];
    return v;
  }
}

template <class V, class T>
TX_INLINE void store_first(V v, T* p, int n) {
  constexpr int W = static_cast<int>(sizeof(V) / sizeof(T));
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    if constexpr (W == 16) _mm512_mask_storeu_epi32(p, static_cast<__mmask16>((1u << n) - 1u), (__m512i)v);
    else _mm512_mask_storeu_epi64(p, static_cast<__mmask8>((1u << n) - 1u), (__m512i)v);
  } else
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32) {
    if constexpr (W == 8) _mm256_maskstore_ps(reinterpret_cast<float*>(p), (__m256i)first<T, W>(n), (__m256)v);
    else _mm256_maskstore_pd(reinterpret_cast<double*>(p), (__m256i)first<T, W>(n), (__m256d)v);
  } else if constexpr (sizeof(V) == 16) {
    if constexpr (W == 4) _mm_maskstore_ps(reinterpret_cast<float*>(p), (__m128i)first<T, W>(n), (__m128)v);
    else _mm_maskstore_pd(reinterpret_cast<double*>(p), (__m128i)first<T, W>(n), (__m128d)v);
  } else
#endif
  {
    for (int i = 0; i < W; ++i)
      if (i < n) p[i] = v[i];
  }
}

}  // namespace detail

}  // namespace tx::backends::cpu
