// Philox4x32-10 for a whole vector of neighbouring elements; bit for bit what tx::uniform gives one by one.
#pragma once

#include <tx/backends/cpu/simd.hpp>
#include <tx/core/philox.hpp>

namespace tx::backends::cpu {

namespace detail {

// 64-bit lanes, W / 2 of them: the first half belongs to one 32-bit word of W / 4 counters, the second to another.
template <int W>
using word_pairs = vector_t<std::uint64_t, W / 2>;

template <int W>
TX_INLINE word_pairs<W> pairs(std::uint64_t first, std::uint64_t second) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return word_pairs<W>{(I < W / 4 ? first : second)...};
  }(std::make_integer_sequence<int, W / 2>{});
}

template <int W>
TX_INLINE word_pairs<W> swap_halves(word_pairs<W> a) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, a, (I + W / 4) % (W / 2)...);
  }(std::make_integer_sequence<int, W / 2>{});
}

// 64-bit products of the lower 32 bits of each lane. Written as a product the compiler takes the 64 x 64 instruction.
template <class V>
TX_INLINE V multiply_low(V a, V b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return (V)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
  else
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(V) == 32) return (V)_mm256_mul_epu32((__m256i)a, (__m256i)b);
  else
#endif
#if defined(__SSE2__)
    if constexpr (sizeof(V) == 16) return (V)_mm_mul_epu32((__m128i)a, (__m128i)b);
  else
#endif
    return (a & 0xffffffffu) * (b & 0xffffffffu);
}

}  // namespace detail

// The random words of columns column0 .. column0 + W - 1, column0 % 4 == 0.
//
// One multiplication per round does both products of W / 4 counters: x holds words 0 and 2, y words 3 and 1. A round
// leaves x's halves exchanged, so that only y, which is off the critical path, needs moving; ten rounds put them right.
template <int W = lanes>
TX_INLINE simd<i32, W> random_words(philox_key key, philox_stream stream, std::uint64_t row, std::uint32_t column0) {
  using V = detail::word_pairs<W>;
  static_assert(W >= 4 && W <= lanes);
  auto const low32 = static_cast<std::uint32_t>(row);
  auto const high32 = static_cast<std::uint32_t>(row >> 32) ^ stream.high;
  auto const offset = []<int... I>(std::integer_sequence<int, I...>) {
    return V{(I < W / 4 ? std::uint64_t{I} : 0)...};
  }(std::make_integer_sequence<int, W / 2>{});
  V x = detail::pairs<W>(column0 / 4, high32) + offset;
  V y = detail::pairs<W>(stream.low, low32);
  constexpr std::uint32_t m0 = 0xd2511f53u, m1 = 0xcd9e8d57u;  // multipliers
  constexpr std::uint32_t w0 = 0x9e3779b9u, w1 = 0xbb67ae85u;  // what each round adds to the key
  // Two rounds at a time, each with its own order of keys and multipliers.
  V key_even = detail::pairs<W>(key.word[1], key.word[0]), key_odd = detail::pairs<W>(key.word[0], key.word[1]);
  V const m_even = detail::pairs<W>(m0, m1), m_odd = detail::pairs<W>(m1, m0);
  key_odd += detail::pairs<W>(w0, w1);
  for (int pair = 0; pair < 5; ++pair) {
    V product = detail::multiply_low(x, m_even);
    x = (product >> 32) ^ y ^ key_even;
    y = detail::swap_halves<W>(product);
    product = detail::multiply_low(x, m_odd);
    x = (product >> 32) ^ y ^ key_odd;
    y = detail::swap_halves<W>(product);
    key_even += detail::pairs<W>(2 * std::uint64_t{w1}, 2 * std::uint64_t{w0});
    key_odd += detail::pairs<W>(2 * std::uint64_t{w0}, 2 * std::uint64_t{w1});
  }
  // x: words 0 | 2, the upper bits undefined; y: 3 | 1. Lanes 01 01 .. 23 23 .. become 01 23 01 23 ...
  V const packed = (x & 0xffffffffu) | (detail::swap_halves<W>(y) << 32);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    V const ordered = __builtin_shufflevector(packed, packed, (I / 2 + I % 2 * (W / 4))...);
    return simd<i32, W>((detail::vector_t<i32, W>)ordered);
  }(std::make_integer_sequence<int, W / 2>{});
}

// Uniform values in [0, 1) for columns column0 .. column0 + W - 1, column0 % 4 == 0.
template <int W = lanes>
TX_INLINE simd<f32, W> uniform(philox_key key, philox_stream stream, std::uint64_t row, std::uint32_t column0) {
  auto const words = random_words<W>(key, stream, row, column0);
  return convert<f32>((words >> 8) & 0xffffff) * 0x1p-24f;
}

}  // namespace tx::backends::cpu
