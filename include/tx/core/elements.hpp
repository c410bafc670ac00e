// Elements whose type is known only at run time, and which of them are no finite numbers.
#pragma once

#include <tx/core/dtype.hpp>

namespace tx {

namespace detail {
template <class F>
auto with_element(dtype type, F const& f) {
  switch (type) {
    case dtype::f64: return f(f64{});
    case dtype::f32: return f(f32{});
    case dtype::bf16: return f(bf16{});
    case dtype::f16: return f(f16{});
    case dtype::i64: return f(i64{});
    case dtype::i32: return f(i32{});
    case dtype::i16: return f(i16{});
    case dtype::i8: return f(i8{});
    case dtype::u8: return f(u8{});
    case dtype::e4m3: return f(e4m3{});
    default: return f(bool{});
  }
}
}  // namespace detail

// Element k of those that begin at p.
TX_COLD inline double element_at(dtype type, std::byte const* p, std::int64_t k) {
  return detail::with_element(type, [&](auto x) {
    __builtin_memcpy(&x, p + k * static_cast<std::int64_t>(sizeof x), sizeof x);
    return static_cast<double>(number_of(x));
  });
}

// A number as an element holds it. Integers: towards zero, cut to their bits; 0 where there is none, as in a quotient by 0.
template <class T>
constexpr T element_of(double value) {
  if constexpr (requires(T x) { x.widen(); }) return T::from(static_cast<float>(value));
  else if constexpr (std::is_same_v<T, bool>) return value != 0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(-0x1p63 < value && value < 0x1p63 ? static_cast<std::int64_t>(value) : 0);
  else return static_cast<T>(value);
}
// Element k of those that begin at p becomes what an element of the type holds of a number.
TX_COLD inline void put_element(dtype type, std::byte* p, std::int64_t k, double value) {
  detail::with_element(type, [&]<class T>(T) {
    T const x = element_of<T>(value);
    __builtin_memcpy(p + k * static_cast<std::int64_t>(sizeof x), &x, sizeof x);
  });
}
TX_COLD inline double rounded_to(dtype type, double value) {
  return detail::with_element(
      type, [&](auto x) { return static_cast<double>(number_of(element_of<decltype(x)>(value))); });
}

// By their bits, as compilers may be told that there are no such numbers: infinity and what is above it, without the
// sign.
inline bool is_nan(double x) { return (std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffu) > 0x7ff0000000000000u; }
inline bool is_finite(double x) {
  return (std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffu) < 0x7ff0000000000000u;
}

namespace detail {
// The first of n elements whose bits without the sign are above `most`; n where there is none.
template <class Bits>
__attribute__((noinline)) std::int64_t first_above(std::byte const* p, std::int64_t n, Bits most) {
  auto const magnitude = [&](std::int64_t i) {
    Bits b;
    __builtin_memcpy(&b, p + i * static_cast<std::int64_t>(sizeof b), sizeof b);
    return static_cast<Bits>(b & static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1));
  };
  constexpr std::int64_t block = 4096;
  for (std::int64_t first = 0; first < n; first += block) {
    std::int64_t const end = n - first < block ? n : first + block;
    Bits largest = 0;
    for (std::int64_t i = first; i < end; ++i) largest = magnitude(i) > largest ? magnitude(i) : largest;
    for (std::int64_t i = first; largest > most; ++i)
      if (magnitude(i) > most) return i;
  }
  return n;
}
}  // namespace detail

// The first of n elements that is NaN, or infinite if those count too; n where there is none.
inline std::int64_t first_not_finite(dtype type, std::byte const* p, std::int64_t n, bool infinities) {
  auto const most = [&]<class Bits>(Bits infinity) { return static_cast<Bits>(infinities ? infinity - 1 : infinity); };
  switch (type) {
    case dtype::f64: return detail::first_above(p, n, most(std::uint64_t{0x7ff0000000000000u}));
    case dtype::f32: return detail::first_above(p, n, most(std::uint32_t{0x7f800000u}));
    case dtype::bf16: return detail::first_above(p, n, most(std::uint16_t{0x7f80u}));
    case dtype::f16: return detail::first_above(p, n, most(std::uint16_t{0x7c00u}));
    case dtype::e4m3: return detail::first_above(p, n, std::uint8_t{0x7eu});  // it has no infinities
    default: return n;
  }
}

}  // namespace tx
