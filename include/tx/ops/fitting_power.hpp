// What numbers are multiplied by before they are rounded to E4M3: the greatest power of two that leaves the greatest of them, in magnitude, at 448 or below.
// A product with it loses nothing but what E4M3 has no room for. fitting_unit is its reciprocal, by which products are multiplied again.
//
//   greatest   448   449   1     0     NaN
//   power      1     1/2   256   1     NaN
//   unit       1     2     1/256 1     NaN
// Of an infinity it is 2^-120, which leaves that infinite, and E4M3 makes NaN of it. Powers end at 2^126, so that the reciprocal is a normal number of f32.
#pragma once

#include <tx/core/fitting_power.hpp>
#include <tx/ops/elementwise.hpp>

namespace tx {

namespace rules {
struct fitting_power {
  template <class V>
  static TX_HD constexpr V apply(V greatest) {
    using math::fitting_power;
    return fitting_power(greatest);
  }
};
struct fitting_unit {
  template <class V>
  static TX_HD constexpr V apply(V greatest) {
    using math::fitting_unit;
    return fitting_unit(greatest);
  }
};
}  // namespace rules

inline constexpr op_info fitting_power_info = flat(elementwise_op<rules::fitting_power, 1>("fitting_power", nullptr, false, detail::float_infer));
inline constexpr op_info fitting_unit_info = flat(elementwise_op<rules::fitting_unit, 1>("fitting_unit", nullptr, false, detail::float_infer));
template <>
struct scalar_rule<&fitting_power_info> {
  using type = rules::fitting_power;
};
template <>
struct scalar_rule<&fitting_unit_info> {
  using type = rules::fitting_unit;
};

constexpr var fitting_power(var greatest) { return emit(fitting_power_info, {greatest}); }
constexpr var fitting_unit(var greatest) { return emit(fitting_unit_info, {greatest}); }

}  // namespace tx
