// PTX's types, and the C++ types that the runner computes with.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ptx {

enum class scalar { none, pred, u8, u16, u32, u64, s8, s16, s32, s64, f16, bf16, f32, f64, f16x2, bf16x2 };

// .b8 to .b64 count as unsigned, .tf32 as .b32.
constexpr scalar scalar_of(std::string_view name) {
  struct entry {
    std::string_view name;
    scalar type;
  };
  constexpr entry all[] = {
      {"pred", scalar::pred}, {"u8", scalar::u8},       {"b8", scalar::u8},         {"u16", scalar::u16},
      {"b16", scalar::u16},   {"u32", scalar::u32},     {"b32", scalar::u32},       {"u64", scalar::u64},
      {"b64", scalar::u64},   {"s8", scalar::s8},       {"s16", scalar::s16},       {"s32", scalar::s32},
      {"s64", scalar::s64},   {"f16", scalar::f16},     {"bf16", scalar::bf16},     {"f32", scalar::f32},
      {"f64", scalar::f64},   {"f16x2", scalar::f16x2}, {"bf16x2", scalar::bf16x2}, {"tf32", scalar::u32}};
  for (auto const& e : all)
    if (e.name == name) return e.type;
  return scalar::none;
}

constexpr int bytes_of(scalar t) {
  switch (t) {
    case scalar::none:
    case scalar::pred: return 0;
    case scalar::u8:
    case scalar::s8: return 1;
    case scalar::u16:
    case scalar::s16:
    case scalar::f16:
    case scalar::bf16: return 2;
    case scalar::u64:
    case scalar::s64:
    case scalar::f64: return 8;
    default: return 4;
  }
}

// The number of float that is odd, where there is none for x: rounded once more to fewer bits, it gives what x itself
// would (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to
// odd").
inline float to_odd(double x) {
  float const near = static_cast<float>(x);
  auto bits = std::bit_cast<std::uint32_t>(near);
  if (x != x || static_cast<double>(near) == x || (bits & 1) != 0) return near;
  bool const too_large = (near < 0 ? -static_cast<double>(near) : static_cast<double>(near)) > (x < 0 ? -x : x);
  return std::bit_cast<float>(too_large ? bits - 1 : bits + 1);
}

// Bits of the half that is nearest, of two the even one.
inline std::uint16_t half_bits(float x) {
  auto u = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const sign = u >> 16 & 0x8000;
  u &= 0x7fffffff;
  if (u > 0x7f800000) return 0x7fff;
  auto const rounded = [](std::uint32_t bits, std::uint32_t drop) {
    std::uint32_t const kept = bits >> drop, rest = bits & ((1u << drop) - 1), middle = 1u << (drop - 1);
    return kept + (rest > middle || (rest == middle && (kept & 1) != 0) ? 1 : 0);
  };
  std::uint32_t bits = 0;
  if (u >= 0x47800000)
    bits = 0x7c00;  // 65536 and more
  else if (u >= 0x38800000)
    bits = std::min(rounded(u - 0x38000000, 13), 0x7c00u);
  else if (u >> 23 >= 102)
    bits = rounded((u & 0x7fffff) | 0x800000, 126 - (u >> 23));  // subnormal: multiples of 2^-24
  return static_cast<std::uint16_t>(sign | bits);
}
inline float half_value(std::uint16_t bits) {
  std::uint32_t const sign = static_cast<std::uint32_t>(bits & 0x8000) << 16, exponent = bits >> 10 & 31,
                      mantissa = bits & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  float const small = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -small : small;
}

struct half {
  std::uint16_t bits = 0;
  half() = default;
  explicit half(float x) : bits(half_bits(x)) {}
  explicit half(double x) : bits(half_bits(to_odd(x))) {}
  operator float() const { return half_value(bits); }
};

struct brain_half {
  std::uint16_t bits = 0;
  brain_half() = default;
  explicit brain_half(double x) : brain_half(to_odd(x)) {}
  explicit brain_half(float x) {  // to the nearest, of two the even one
    auto const b = std::bit_cast<std::uint32_t>(x);
    bits = x != x ? 0x7fff : static_cast<std::uint16_t>((b + 0x7fff + (b >> 16 & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

// Two halves of a 32-bit register, the lower one first.
template <class H>
struct pair_of {
  H low, high;
};

// The result of f.operator()<T>() for the C++ type of a PTX type, or nothing.
template <class F>
constexpr auto with_type(scalar t, F f) -> decltype(f.template operator()<std::uint32_t>()) {
  switch (t) {
    case scalar::u8: return f.template operator()<std::uint8_t>();
    case scalar::u16: return f.template operator()<std::uint16_t>();
    case scalar::u32: return f.template operator()<std::uint32_t>();
    case scalar::u64: return f.template operator()<std::uint64_t>();
    case scalar::s8: return f.template operator()<std::int8_t>();
    case scalar::s16: return f.template operator()<std::int16_t>();
    case scalar::s32: return f.template operator()<std::int32_t>();
    case scalar::s64: return f.template operator()<std::int64_t>();
    case scalar::f16: return f.template operator()<half>();
    case scalar::bf16: return f.template operator()<brain_half>();
    case scalar::f32: return f.template operator()<float>();
    case scalar::f64: return f.template operator()<double>();
    case scalar::f16x2: return f.template operator()<pair_of<half>>();
    case scalar::bf16x2: return f.template operator()<pair_of<brain_half>>();
    default: return {};
  }
}

}  // namespace ptx
