// Scalar functions a rule is written with: `using namespace tx::math;` in a generic rule makes exp(x), select(m, a, b)
// and convert<f32>(x) work for float and double here and, by argument-dependent lookup, for a backend's vector types.
//
// At run time they are std::. In a constant evaluation, where std::exp and its kin are not allowed, they are the series
// below: within 1e-15 of the true value, relatively (sin and cos for |x| <= 2^20).
#pragma once

#include <tx/config.hpp>

#include <bit>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

namespace tx::math {

namespace constant {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TX_HD constexpr double magnitude(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~(1ull << 63));
}
TX_HD constexpr bool negative(double x) { return std::bit_cast<std::uint64_t>(x) >> 63; }

TX_HD constexpr double floor(double x) {
  if (!(magnitude(x) < 0x1p52) || x == 0) return x;
  auto const t = static_cast<double>(static_cast<std::int64_t>(x));
  auto const r = t > x ? t - 1 : t;
  return r == 0 && negative(x) ? -0.0 : r;
}

// x 2^n for any n; exact unless the result is denormal.
TX_HD constexpr double scale(double x, int n) {
  for (; n > 1000; n -= 1000) x *= 0x1p1000;
  for (; n < -1000; n += 1000) x *= 0x1p-1000;
  return x * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

// x = m 2^k with sqrt(1/2) <= m < sqrt(2), for finite x > 0.
struct split {
  double m;
  int k;
};
TX_HD constexpr split significand(double x) {
  int k = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    k = -54;
  }
  auto const i = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x));
  auto const e = static_cast<int>((i - 0x3fe6a09e667f3bcd) >> 52);
  return {std::bit_cast<double>(i - (static_cast<std::int64_t>(e) << 52)), k + e};
}

// a / +-0, which no constant evaluation divides.
TX_HD constexpr double over_zero(double a, double zero) {
  if (a != a || a == 0) return nan;
  return negative(a) != negative(zero) ? -infinity : infinity;
}

// An unevaluated sum hi + lo of about 106 bits. T. Dekker, A floating-point technique for extending the available
// precision (1971).
struct twice {
  double hi, lo;
};
TX_HD constexpr twice sum(double a, double b) {
  double const s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
TX_HD constexpr twice product(double a, double b) {
  double const p = a * b;
  if (!std::is_constant_evaluated()) return {p, std::fma(a, b, -p)};  // what follows does not survive contraction
  double const ca = a * 134217729.0, cb = b * 134217729.0;
  double const ah = ca - (ca - a), al = a - ah, bh = cb - (cb - b), bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
TX_HD constexpr twice operator+(twice a, twice b) {
  auto const s = sum(a.hi, b.hi);
  return sum(s.hi, s.lo + (a.lo + b.lo));
}
TX_HD constexpr twice operator*(twice a, twice b) {
  auto const p = product(a.hi, b.hi);
  return sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
TX_HD constexpr twice operator/(twice a, twice b) {
  double const q = a.hi / b.hi;
  auto const r = a + twice{-q, 0} * b;
  return sum(q, (r.hi + r.lo) / b.hi);
}

inline constexpr twice ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// exp(hi + lo), from the Taylor series on |r| <= ln 2 / 2.
TX_HD constexpr double exp(twice x) {
  if (x.hi != x.hi) return x.hi;
  if (x.hi > 710) return infinity;
  if (x.hi < -746) return 0;
  double const n = floor(x.hi * 0x1.71547652b82fep+0 + 0.5);
  auto const r = x + twice{-n, 0} * ln2;
  double p = 1;
  for (int i = 20; i > 1; --i) p = 1 + r.hi * p / i;
  return scale(1 + (r.hi * p + r.lo), static_cast<int>(n));
}
TX_HD constexpr double exp(double x) { return exp(twice{x, 0}); }

TX_HD constexpr double expm1(double x) {
  if (!(magnitude(x) < 1)) return exp(x) - 1;
  double p = 1;
  for (int i = 25; i > 1; --i) p = 1 + x * p / i;
  return x * p;
}

// log(x + rest) as k ln 2 + 2 atanh((m - 1) / (m + 1)).
TX_HD constexpr twice log(double x, double rest) {
  auto const [m, k] = significand(x);
  auto const f = sum(m - 1, scale(rest, -k));
  auto const s = f / (f + twice{2, 0});
  auto const z = s * s;
  twice p{0, 0};
  for (int i = 45; i > 0; i -= 2) p = p * z + twice{1, 0} / twice{static_cast<double>(i), 0};
  return twice{static_cast<double>(k), 0} * ln2 + twice{2, 0} * s * p;
}
TX_HD constexpr double log(double x) {
  if (x != x || x == infinity) return x;
  if (x <= 0) return x == 0 ? -infinity : nan;
  return log(x, 0).hi;
}
TX_HD constexpr double log1p(double x) {
  if (x != x || x == infinity || x == 0) return x;
  if (x <= -1) return x == -1 ? -infinity : nan;
  if (magnitude(x) < 0x1p-60) return x;
  auto const u = sum(1, x);
  return log(u.hi, u.lo).hi;
}

TX_HD constexpr double sqrt(double x) {
  if (x != x || x == infinity || x == 0) return x;
  if (x < 0) return nan;
  auto [m, k] = significand(x);
  if (k % 2 != 0) {
    m *= 2;
    --k;
  }
  double r = m;
  for (int i = 0; i < 6; ++i) r = (r + m / r) / 2;
  auto const p = product(r, r);
  return scale(r + ((m - p.hi) - p.lo) / (2 * r), k / 2);
}

TX_HD constexpr double tanh(double x) {
  double const a = magnitude(x);
  if (x != x || a < 0x1p-30) return x;
  double const e = a > 22 ? infinity : expm1(2 * a);
  double const r = a > 22 ? 1 : e / (e + 2);
  return negative(x) ? -r : r;
}

// 2/sqrt(pi) exp(-x^2) (x + 2/3 x^3 + 4/15 x^5 + ...): all terms of one sign. Abramowitz and Stegun 7.1.6, and the
// continued fraction 7.1.14 of erfc further out.
TX_HD constexpr double erf(double x) {
  double const a = magnitude(x);
  if (x != x || x == 0) return x;
  double r = 1;
  if (a < 6) {
    auto const square = product(a, a);
    double const e = exp(twice{-square.hi, a < 1e-100 ? 0 : -square.lo});
    if (a < 2) {
      double p = 1;
      for (int i = 45; i > 0; --i) p = 1 + p * (2 * square.hi / (2 * i + 1));
      r = a * 1.1283791670955126 * e * p;
    } else {
      double c = 0;
      for (int i = 80; i > 0; --i) c = i / 2.0 / (a + c);
      r = 1 - e / (a + c) * 0.56418958354775629;
    }
  }
  return negative(x) ? -r : r;
}

// sin(x + quarters pi/2).
TX_HD constexpr double sine(double x, int quarters) {
  if (!(magnitude(x) < infinity)) return nan;
  double const n = floor(x * 0x1.45f306dc9c883p-1 + 0.5);
  // pi/2 in three parts; n times the first two is exact for |n| < 2^20.
  auto const r = sum(x - n * 0x1.921fb544p+0, -n * 0x1.0b4611a6p-34) + product(-n, 0x1.3198a2e037073p-69);
  auto const q = static_cast<std::int64_t>(n) + quarters;
  double const z = r.hi * r.hi;
  double value = 0;
  if (q % 2 == 0) {
    double p = 1;
    for (int i = 26; i > 2; i -= 2) p = 1 - z * p / (i * (i + 1));
    value = r.hi - (r.hi * z * p / 6 - r.lo * (1 - z / 2));
  } else {
    double p = 1;
    for (int i = 27; i > 1; i -= 2) p = 1 - z * p / (i * (i + 1));
    value = 1 - (z * p / 2 + r.hi * r.lo);
  }
  return (q & 2) != 0 ? -value : value;
}
TX_HD constexpr double sin(double x) { return x == 0 ? x : sine(x, 0); }
TX_HD constexpr double cos(double x) { return sine(x, 1); }

TX_HD constexpr double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  double const a = magnitude(x);
  bool const integer = floor(y) == y;
  bool const odd = integer && magnitude(y) < 0x1p53 && static_cast<std::int64_t>(y) % 2 != 0;
  double r = 1;
  if (a == 0 || a == infinity) {
    r = (a == 0) == (y < 0) ? infinity : 0;
  } else if (x < 0 && !integer) {
    return nan;
  } else if (a != 1) {
    auto const l = log(a, 0);
    double const estimate = l.hi * y;
    if (magnitude(estimate) < 1e3) r = exp(l * twice{y, 0});
    else r = estimate > 0 ? infinity : 0;
  }
  return odd && negative(x) ? -r : r;
}

}  // namespace constant

template <std::floating_point T>
TX_HD constexpr T exp(T x) {
  if (std::is_constant_evaluated()) return static_cast<T>(constant::exp(x));
  return std::exp(x);
}
template <std::floating_point T>
TX_HD constexpr T expm1(T x) {
  if (std::is_constant_evaluated()) return static_cast<T>(constant::expm1(x));
  return std::expm1(x);
}
template <std::floating_point T>
TX_HD constexpr T log(T x) {
  if (std::is_constant_evaluated()) return static_cast<T>(constant::log(x));
  return std::log(x);
}
template <std::floating_point T>
TX_HD constexpr T log1p(T x) {
  if (std::is_constant_evaluated()) return static_cast<T>(constant::log1p(x));
  return std::log1p(x);
}
template <std::floating_point T>
TX_HD constexpr T tanh(T x) {
  if (std::is_constant_evaluated()) return static_cast<T>(constant::tanh(x));
  return std::tanh(x);
}
template <std::floating_point T>
TX_HD constexpr T erf(T x) {
  if (std::is_constant_evaluated()) return static_cast<T>(constant::erf(x));
  return std::erf(x);
}
template <std::floating_point T>
TX_HD constexpr T sin(T x) {
  if (std::is_constant_evaluated()) return static_cast<T>(constant::sin(x));
  return std::sin(x);
}
template <std::floating_point T>
TX_HD constexpr T cos(T x) {
  if (std::is_constant_evaluated()) return static_cast<T>(constant::cos(x));
  return std::cos(x);
}
template <std::floating_point T>
TX_HD constexpr T sqrt(T x) {
  if (std::is_constant_evaluated()) return static_cast<T>(constant::sqrt(x));
  return std::sqrt(x);
}
template <std::floating_point T>
TX_HD constexpr T floor(T x) {
  if (std::is_constant_evaluated()) return static_cast<T>(constant::floor(x));
  return std::floor(x);
}
template <std::floating_point T>
TX_HD constexpr T pow(T x, std::type_identity_t<T> y) {
  if (std::is_constant_evaluated()) return static_cast<T>(constant::pow(x, y));
  return std::pow(x, y);
}
template <std::floating_point T>
TX_HD constexpr T rsqrt(T x) {
  return T(1) / math::sqrt(x);
}
template <std::floating_point T>
TX_HD constexpr T sigmoid(T x) {
  T const z = math::exp(x < 0 ? x : -x);  // never overflows
  return (x < 0 ? z : T(1)) / (T(1) + z);
}

template <class T>
  requires std::is_arithmetic_v<T>
TX_HD constexpr T abs(T x) {
  if constexpr (std::is_integral_v<T>) return x < 0 ? static_cast<T>(-x) : x;
  else if (std::is_constant_evaluated()) return static_cast<T>(constant::magnitude(x));
  else return std::abs(x);
}
// The first argument where either is NaN, as std::min and std::max.
template <class T>
  requires std::is_arithmetic_v<T>
TX_HD constexpr T min(T a, std::type_identity_t<T> b) {
  return b < a ? b : a;
}
template <class T>
  requires std::is_arithmetic_v<T>
TX_HD constexpr T max(T a, std::type_identity_t<T> b) {
  return a < b ? b : a;
}
template <class T>
  requires std::is_arithmetic_v<T>
TX_HD constexpr T select(bool condition, T a, std::type_identity_t<T> b) {
  return condition ? a : b;
}
// Integers: towards zero, 0 where the divisor is 0, and the smallest number by -1 is itself. Processors trap at both.
template <class T>
  requires std::is_arithmetic_v<T>
TX_HD constexpr T divide(T a, std::type_identity_t<T> b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return T(0);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(a));
    return static_cast<T>(a / b);
  } else {
    if (std::is_constant_evaluated() && b == 0) return static_cast<T>(constant::over_zero(a, b));
    return a / b;
  }
}
// a b + c: rounded once where the hardware can, twice where it cannot, as the vector types do it.
template <class T>
  requires std::is_arithmetic_v<T>
TX_HD constexpr T fma(T a, std::type_identity_t<T> b, std::type_identity_t<T> c) {
#if defined(__FMA__) || defined(__aarch64__) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::is_floating_point_v<T>)
    if (!std::is_constant_evaluated()) return std::fma(a, b, c);
#endif
  return static_cast<T>(a * b + c);
}
template <class T, class U>
  requires std::is_arithmetic_v<T> && std::is_arithmetic_v<U>
TX_HD constexpr T convert(U x) {
  return static_cast<T>(x);
}

}  // namespace tx::math
