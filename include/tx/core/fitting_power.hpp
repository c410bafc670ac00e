// The power of two that brings numbers into the range of E4M3, by the greatest of their magnitudes: see ops/fitting_power.hpp. By bits, so that it is the same
// whatever compilers are told of arithmetic.
#pragma once

#include <tx/core/dtype.hpp>

#include <limits>
#include <type_traits>

namespace tx::math {

namespace detail {
// The exponent of the power as f32 has it, 7 to 253, of a magnitude's bits, which are no NaN's.
TX_HD constexpr std::int32_t fitting_exponent(std::int32_t magnitude) {
  if (magnitude == 0) return 127;
  std::int32_t const above = (magnitude + 0x1fffff) >> 23;  // one more from 1.75 of a power of two on: 448 is 1.75 * 2^8
  return above > 262 - 253 ? 262 - above : 253;
}
// One such of f32 in place of a number. Back: the reciprocal.
template <bool Back>
TX_HD constexpr float fitting(float greatest) {
  auto const magnitude = std::bit_cast<std::int32_t>(greatest) & 0x7fffffff;
  if (magnitude > 0x7f800000) return greatest;
  std::int32_t const exponent = fitting_exponent(magnitude);
  return std::bit_cast<float>((Back ? 254 - exponent : exponent) << 23);
}

template <bool Back, class T>
TX_HD constexpr T fitting_of(T greatest) {
  if constexpr (sizeof(T) > sizeof(float)) {  // some of f64 are no numbers of f32
    constexpr T most = std::numeric_limits<float>::max();
    if (greatest > most || greatest < -most) return static_cast<T>(fitting<Back>(std::numeric_limits<float>::infinity()));
  }
  return static_cast<T>(fitting<Back>(static_cast<float>(greatest)));
}
}  // namespace detail

template <class T>
  requires std::is_floating_point_v<T>
TX_HD constexpr T fitting_power(T greatest) {
  return detail::fitting_of<false>(greatest);
}
template <class T>
  requires std::is_floating_point_v<T>
TX_HD constexpr T fitting_unit(T greatest) {
  return detail::fitting_of<true>(greatest);
}

}  // namespace tx::math
