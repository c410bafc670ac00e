// Element types: the C++ types users name, and their run-time tag.
#pragma once

#include <tx/config.hpp>

#include <bit>

namespace tx {

// Declared first: its enumerators carry the names of the types below.
enum class dtype : std::uint8_t { f64, f32, bf16, f16, i64, i32, i16, i8, u8, boolean, e4m3 };

using f64 = double;
using f32 = float;
using i64 = std::int64_t;
using i32 = std::int32_t;
using i16 = std::int16_t;
using i8 = std::int8_t;
using u8 = std::uint8_t;

#if defined(__CUDA_ARCH__)  // device code has an instruction for it
namespace detail {
// Two at once, `low` in the lower half of a word.
__device__ inline std::uint32_t narrowed_to_bf16(float low, float high) {
  std::uint32_t two;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(high), "f"(low));
  return two;
}
__device__ inline std::uint32_t narrowed_to_f16(float low, float high) {
  std::uint32_t two;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(high), "f"(low));
  return two;
}
__device__ inline std::uint16_t narrowed_to_bf16(float x) { return static_cast<std::uint16_t>(narrowed_to_bf16(x, 0)); }
__device__ inline std::uint16_t narrowed_to_f16(float x) {
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
__device__ inline float widened_f16(std::uint16_t bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
}  // namespace detail
#define TX_ON_DEVICE(...) \
  if (!__builtin_is_constant_evaluated()) return __VA_ARGS__;
#else
#define TX_ON_DEVICE(...)
#endif

// The upper half of an f32: 8 exponent bits, 7 fraction bits. Storage only; arithmetic happens in f32.
struct bf16 {
  std::uint16_t bits;

  static TX_HD constexpr bf16 from(float value) {
    TX_ON_DEVICE({detail::narrowed_to_bf16(value)})
    auto u = std::bit_cast<std::uint32_t>(value);
    if ((u & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>((u >> 16) | 0x40u)};  // keep NaN a NaN
    u += 0x7fffu + ((u >> 16) & 1u);                                                              // round to nearest even
    return {static_cast<std::uint16_t>(u >> 16)};
  }
  TX_HD constexpr float widen() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

// IEEE 754 binary16: 5 exponent bits, 10 fraction bits. Storage only.
struct f16 {
  std::uint16_t bits;

  static TX_HD constexpr f16 from(float value) {
    TX_ON_DEVICE({detail::narrowed_to_f16(value)})
    auto const u = std::bit_cast<std::uint32_t>(value);
    auto const sign = static_cast<std::uint16_t>((u >> 16) & 0x8000u);
    std::uint32_t const mag = u & 0x7fffffffu;
    if (mag > 0x7f800000u) return {static_cast<std::uint16_t>(sign | 0x7e00u)};   // NaN
    if (mag >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};  // rounds past 65504: infinity
    if (mag < 0x33000001u) return {sign};                                         // at most 2^-25: zero
    std::uint32_t const exponent = mag >> 23;
    std::uint32_t const fraction = (mag & 0x7fffffu) | 0x800000u;
    std::uint32_t const shift = exponent > 112 ? 13 : 126 - exponent;  // below 2^-14 the result is subnormal
    std::uint32_t const half = 1u << (shift - 1);
    std::uint32_t rounded = fraction >> shift;
    std::uint32_t const rest = fraction & ((1u << shift) - 1);
    if (rest > half || (rest == half && (rounded & 1u))) ++rounded;
    std::uint32_t const biased = exponent > 112 ? ((exponent - 112 - 1) << 10) + rounded : rounded;
    return {static_cast<std::uint16_t>(sign | biased)};
  }
  TX_HD constexpr float widen() const {
    TX_ON_DEVICE(detail::widened_f16(bits))
    std::uint32_t const sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    std::uint32_t const exponent = (bits >> 10) & 0x1fu;
    std::uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
    if (fraction == 0) return std::bit_cast<float>(sign);
    std::uint32_t e = 113;
    while (!(fraction & 0x400u)) {
      fraction <<= 1;
      --e;
    }
    return std::bit_cast<float>(sign | (e << 23) | ((fraction & 0x3ffu) << 13));
  }
};

#undef TX_ON_DEVICE

// FP8 of the Open Compute Project, E4M3: 4 exponent bits, 3 fraction bits, no infinities, NaN where all bits but the sign are set. Its greatest number is
// 448, its smallest normal one 2^-6, its smallest 2^-9. Storage only. What is rounded past 448 is NaN, infinities too: nobody takes 448 for a sum that ran over.
struct e4m3 {
  std::uint8_t bits;

  static TX_HD constexpr e4m3 from(float value) {
    auto const u = std::bit_cast<std::uint32_t>(value);
    auto const sign = static_cast<std::uint8_t>(u >> 24 & 0x80u);
    std::uint32_t const mag = u & 0x7fffffffu;
    if (mag > 0x43e80000u) return {static_cast<std::uint8_t>(sign | 0x7fu)};  // above 464, half way to what would be 480
    std::uint32_t rounded = 0;
    if (mag >= 0x3c800000u) rounded = ((mag + 0x7ffffu + (mag >> 20 & 1u)) >> 20) - (120u << 3);  // from 2^-6 on: to nearest even
    else rounded = std::bit_cast<std::uint32_t>(std::bit_cast<float>(mag) + 0x1p14f) - std::bit_cast<std::uint32_t>(0x1p14f);  // 2^14 has neighbours 2^-9 apart
    return {static_cast<std::uint8_t>(sign | rounded)};
  }
  TX_HD constexpr float widen() const {
    std::uint32_t const sign = static_cast<std::uint32_t>(bits & 0x80u) << 24;
    std::uint32_t const mag = bits & 0x7fu;
    if (mag == 0x7fu) return std::bit_cast<float>(sign | 0x7fc00000u);
    if (mag >= 8) return std::bit_cast<float>(sign | ((mag + (120u << 3)) << 20));
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(static_cast<float>(mag) * 0x1p-9f));
  }
};

template <class T>
struct dtype_of;
template <> struct dtype_of<f64> { static constexpr dtype value = dtype::f64; };
template <> struct dtype_of<f32> { static constexpr dtype value = dtype::f32; };
template <> struct dtype_of<bf16> { static constexpr dtype value = dtype::bf16; };
template <> struct dtype_of<f16> { static constexpr dtype value = dtype::f16; };
template <> struct dtype_of<i64> { static constexpr dtype value = dtype::i64; };
template <> struct dtype_of<i32> { static constexpr dtype value = dtype::i32; };
template <> struct dtype_of<i16> { static constexpr dtype value = dtype::i16; };
template <> struct dtype_of<i8> { static constexpr dtype value = dtype::i8; };
template <> struct dtype_of<u8> { static constexpr dtype value = dtype::u8; };
template <> struct dtype_of<bool> { static constexpr dtype value = dtype::boolean; };
template <> struct dtype_of<e4m3> { static constexpr dtype value = dtype::e4m3; };

template <class T>
inline constexpr dtype dtype_v = dtype_of<T>::value;

template <dtype D>
struct element;
template <> struct element<dtype::f64> { using type = f64; };
template <> struct element<dtype::f32> { using type = f32; };
template <> struct element<dtype::bf16> { using type = bf16; };
template <> struct element<dtype::f16> { using type = f16; };
template <> struct element<dtype::i64> { using type = i64; };
template <> struct element<dtype::i32> { using type = i32; };
template <> struct element<dtype::i16> { using type = i16; };
template <> struct element<dtype::i8> { using type = i8; };
template <> struct element<dtype::u8> { using type = u8; };
template <> struct element<dtype::boolean> { using type = bool; };
template <> struct element<dtype::e4m3> { using type = e4m3; };

template <dtype D>
using element_t = typename element<D>::type;

// The number an element holds: halves and E4M3 are storage only.
template <class T>
TX_HD constexpr auto number_of(T x) {
  if constexpr (requires { x.widen(); }) return x.widen();
  else return x;
}

// Bytes of one element.
constexpr std::int64_t size_of(dtype d) {
  switch (d) {
    case dtype::f64:
    case dtype::i64: return 8;
    case dtype::f32:
    case dtype::i32: return 4;
    case dtype::bf16:
    case dtype::f16:
    case dtype::i16: return 2;
    default: return 1;
  }
}

constexpr bool is_float(dtype d) { return d == dtype::f64 || d == dtype::f32 || d == dtype::bf16 || d == dtype::f16 || d == dtype::e4m3; }
constexpr bool is_half(dtype d) { return d == dtype::bf16 || d == dtype::f16; }
// Are such elements only stored, and computed with in f32?
constexpr bool is_storage_only(dtype d) { return is_half(d) || d == dtype::e4m3; }
// What sums of such elements are kept in: products and gradients of halves are f32.
constexpr dtype sum_type(dtype d) { return is_storage_only(d) ? dtype::f32 : d; }
// The halves that products of such elements are rounded to, where they are.
constexpr dtype half_of(dtype d) { return d == dtype::e4m3 ? dtype::bf16 : d; }
constexpr bool is_integer(dtype d) { return !is_float(d) && d != dtype::boolean; }

// Is it a number of that integer type?
constexpr bool holds(dtype d, std::int64_t value) {
  if (d == dtype::i64) return true;
  if (d == dtype::u8) return 0 <= value && value < 256;
  std::int64_t const end = std::int64_t{1} << (8 * size_of(d) - 1);
  return -end <= value && value < end;
}

constexpr char const* name_of(dtype d) {
  constexpr char const* names[] = {"f64", "f32", "bf16", "f16", "i64", "i32", "i16", "i8", "u8", "bool", "e4m3"};
  return names[static_cast<int>(d)];
}

}  // namespace tx
