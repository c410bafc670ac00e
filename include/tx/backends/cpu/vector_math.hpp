// exp, log, log1p, expm1, tanh, erf, sigmoid, sin, cos, pow, rsqrt on simd<f32, W>.
//
// Largest distance from the correctly rounded result: 2 ulp for sigmoid, 1 for the rest, found over all 2^32 arguments
// with AVX-512 and over every 97th with AVX2 and SSE2; for pow over pairs. Denormals, infinities, NaN
// and signed zeros are as in <cmath>. The width does not change the bits; hardware fma may.
// simd<f64, W> calls std:: for each lane.
//
// Coefficients: tools/fit_polynomials.py. Reductions after W. Cody and W. Waite, Software Manual for the Elementary
// Functions (1980); log1p's correction after W. Kahan; log(erfc) as the tail of erf after N. Juffa.
#pragma once

#include <tx/backends/cpu/simd.hpp>
#include <tx/core/fitting_power.hpp>

#include <cmath>
#include <limits>

namespace tx::backends::cpu {

namespace detail {

// c0 + c1 x + c2 x^2 + ...
template <class V, class C>
TX_INLINE V polynomial(V, C c) {
  return V(c);
}
template <class V, class C, class... Rest>
TX_INLINE V polynomial(V x, C c, Rest... rest) {
  return fma(polynomial(x, rest...), x, V(c));
}

template <int W>
TX_INLINE simd<f32, W> with_sign_of(simd<f32, W> magnitude, simd<f32, W> x) {
  return bits<f32>(bits<i32>(magnitude) | (bits<i32>(x) & simd<i32, W>(INT32_MIN)));
}

// x = n ln 2 + r with n an integer and |r| <= ln 2 / 2.
template <int W>
struct ln2_reduced {
  simd<f32, W> n, r;
};
template <int W>
TX_INLINE ln2_reduced<W> reduce_ln2(simd<f32, W> x) {
  constexpr float round = 0x1.8p23f;  // adding it leaves no fraction bits
  auto const n = fma(x, simd<f32, W>(0x1.715476p+0f), simd<f32, W>(round)) - round;
  auto const r = fma(n, simd<f32, W>(-0x1.62e4p-1f), x);  // 15 bits: n times it is exact
  return {n, fma(n, simd<f32, W>(-1.42860677e-06f), r)};
}

template <int W>
TX_INLINE simd<f32, W> exp_reduced(simd<f32, W> r) {
  auto const p = polynomial(r, 0.49999994f, 0.166665167f, 0.0416681021f, 0.00836919155f, 0.00138387852f);
  return fma(r * r, p, r) + 1.f;
}

// 2^n for integers -126 <= n <= 127.
template <int W>
TX_INLINE simd<f32, W> power_of_two(simd<i32, W> n) {
  return bits<f32>((n + 127) << 23);
}

// p 2^n, rounded once where the result is denormal.
template <int W>
TX_INLINE simd<f32, W> scale(simd<f32, W> p, simd<f32, W> n) {
#if defined(__AVX512F__)
  if constexpr (W == 16) {
    return simd<f32, W>((typename simd<f32, W>::vec)_mm512_maskz_scalef_ps(0xffff, (__m512)p.v, (__m512)n.v));
  } else
#endif
  {
    auto const i = convert<i32>(n);
    auto const halved = i >> 1;
    return p * power_of_two(halved) * power_of_two(i - halved);
  }
}

// exp where neither argument nor result is extreme: |x| < 87, or NaN.
template <int W>
TX_INLINE simd<f32, W> exp_moderate(simd<f32, W> x) {
  auto const [n, r] = reduce_ln2(x);
  return bits<f32>(bits<i32>(exp_reduced(r)) + (convert<i32>(n) << 23));
}

// log(2^k (1 + f)) for sqrt(1/2) <= 1 + f < sqrt(2).
template <int W>
TX_INLINE simd<f32, W> log_reduced(simd<f32, W> k, simd<f32, W> f) {
  auto const p = polynomial(f, 0.333333135f, -0.250001669f, 0.200022236f, -0.166593581f, 0.142095596f, -0.125500083f,
                            0.121085256f, -0.109260581f, 0.0536801293f);
  auto const square = f * f;
  auto const tail = fma(k, simd<f32, W>(1.42860677e-06f), f * square * p);
  return fma(k, simd<f32, W>(0x1.62e4p-1f), f + fma(square, simd<f32, W>(-0.5f), tail));
}

// What log gives outside its open domain: y is x for log, 1 + x for log1p.
template <int W>
TX_INLINE simd<f32, W> log_limits(simd<f32, W> x, simd<f32, W> zero_at) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  return select(x == zero_at, -inf, select(x < zero_at, std::numeric_limits<float>::quiet_NaN(), x));
}

constexpr i32 root_half_bits = 0x3f3504f3;  // of sqrt(1/2)

}  // namespace detail

template <int W>
TX_INLINE simd<f32, W> exp(simd<f32, W> x) {
  x = max(min(x, 89.f), -104.f);  // past these the result is infinite or 0
  auto const [n, r] = detail::reduce_ln2(x);
  return detail::scale(detail::exp_reduced(r), n);
}

template <int W>
TX_INLINE simd<f32, W> expm1(simd<f32, W> x) {
  auto const [n, r] = detail::reduce_ln2(max(min(x, 89.f), -18.f));
  auto const p =
      detail::polynomial(r, 0.5f, 0.166666359f, 0.0416665114f, 0.00834150985f, 0.00139305438f, 0.000150462889f);
  auto const e = fma(r * r, p, r);
  auto const halved = detail::power_of_two(convert<i32>(n) - 1);  // 2^n itself may overflow where the result does not
  return select(n == 0.f, select(x == 0.f, x, e), 2.f * fma(halved, e, halved - 0.5f));
}

template <int W>
TX_INLINE simd<f32, W> log(simd<f32, W> x) {
  auto const denormal = x < std::numeric_limits<float>::min();
  auto const i = bits<i32>(select(denormal, x * 0x1p23f, x));
  auto const k = (i - detail::root_half_bits) >> 23;
  auto const m = bits<f32>(i - (k << 23));
  auto const r = detail::log_reduced(convert<f32>(k) - select(denormal, simd<f32, W>(23.f), 0.f), m - 1.f);
  return select(x > 0.f && x < std::numeric_limits<float>::infinity(), r, detail::log_limits(x, simd<f32, W>(0.f)));
}

template <int W>
TX_INLINE simd<f32, W> log1p(simd<f32, W> x) {
  auto const u = x + 1.f;
  auto const back = u - 1.f;
  auto const lost = (1.f - (u - back)) + (x - back);  // 1 + x = u + lost exactly
  auto const i = bits<i32>(u);
  auto const k = (i - detail::root_half_bits) >> 23;
  auto const m = bits<f32>(i - (k << 23));
  auto const f = fma(lost, bits<f32>(max(127 - k, 0) << 23), m - 1.f);
  auto const r = detail::log_reduced(convert<f32>(k), f);
  return select(x > -1.f && x < std::numeric_limits<float>::infinity() && x != 0.f, r,
                detail::log_limits(x, simd<f32, W>(-1.f)));
}

template <int W>
TX_INLINE simd<f32, W> tanh(simd<f32, W> x) {
  auto const a = min(abs(x), 10.f);  // tanh is 1 from 9.02 on
  auto const z = a * a;
  auto const p = detail::polynomial(z, -0.333332807f, 0.133314058f, -0.0537365153f, 0.0206281673f, -0.00569229666f);
  auto const near_zero = fma(a * z, p, a);
  auto const far = 1.f - 2.f / (detail::exp_moderate(a + a) + 1.f);
  return detail::with_sign_of(select(a < 0.625f, near_zero, far), x);
}

template <int W>
TX_INLINE simd<f32, W> erf(simd<f32, W> x) {
  auto const a = min(abs(x), 4.f);  // erf is 1 from 3.92 on
  auto const z = a * a;
  auto const p = detail::polynomial(z, 0.128379166f, -0.37612626f, 0.112835787f, -0.0268533472f, 0.0051871622f,
                                    -0.00079978531f, 7.80690389e-05f);
  auto const q = detail::polynomial(a, -0.000332705618f, -1.1271224f, -0.63809377f, -0.10314776f, 0.0218561999f,
                                    -0.00295184692f, 0.000186773919f);
  return detail::with_sign_of(select(a < 1.f, fma(a, p, a), 1.f - detail::exp_moderate(q)), x);
}

template <int W>
TX_INLINE simd<f32, W> sigmoid(simd<f32, W> x) {
  auto const z = exp(-abs(x));  // never overflows
  return select(x < 0.f, z, 1.f) / (1.f + z);
}

namespace detail {

// The quadrant of x and the sine and cosine of what is left, for |x| <= 2^20.
template <int W>
struct quarter_turns {
  simd<i32, W> quadrant;
  simd<f32, W> sine, cosine;
};
template <int W>
TX_INLINE quarter_turns<W> reduce_quarter_turns(simd<f32, W> x32) {
  using V = simd<f64, W>;
  constexpr double round = 0x1.8p52;
  auto const x = convert<f64>(x32);
  auto const n = fma(x, V(0x1.45f306dc9c883p-1), V(round)) - round;
  // pi/2 in three parts of 33, 33 and 53 bits: n times the first two is exact.
  auto r = fma(n, V(-0x1.921fb544p+0), x);
  r = fma(n, V(-0x1.0b4611a6p-34), r);
  r = fma(n, V(-0x1.3198a2e037073p-69), r);
  auto const z = r * r;
  auto const s = polynomial(z, 1., -0.1666666664077654, 0.0083333293024468423, -0.00019839311493439593,
                            2.718114184835859e-06);
  auto const c = polynomial(z, 1., -0.5, 0.041666666619454201, -0.0013888883496893851, 2.4799459317945905e-05,
                            -2.7205685212299149e-07);
  return {convert<i32>(n), convert<f32>(r * s), convert<f32>(c)};
}

template <int W>
TX_INLINE simd<f32, W> sine_of(quarter_turns<W> q, int shift) {
  auto const i = q.quadrant + shift;
  auto const value = select((i & 1) != 0, q.cosine, q.sine);
  return bits<f32>(bits<i32>(value) ^ ((i & 2) << 30));
}

// Arguments that three parts of pi/2 do not reduce; rare enough to be taken one by one.
template <int W>
__attribute__((noinline)) void trigonometric_far(float const* x, float* result, bool cosine) {
  for (int i = 0; i < W; ++i)
    if (std::abs(x[i]) > 0x1p20f) result[i] = cosine ? std::cos(x[i]) : std::sin(x[i]);
}
template <int W>
TX_INLINE simd<f32, W> trigonometric(simd<f32, W> x, bool cosine) {
  auto result = sine_of(reduce_quarter_turns(x), cosine ? 1 : 0);
  if (any(abs(x) > 0x1p20f)) [[unlikely]] {
    float in[W], out[W];
    x.store(in);
    result.store(out);
    trigonometric_far<W>(in, out, cosine);
    result = simd<f32, W>::load(out);
  }
  return result;
}

}  // namespace detail

// Branch-free for |x| <= 2^20, std:: for the lanes beyond.
template <int W>
TX_INLINE simd<f32, W> sin(simd<f32, W> x) {
  return detail::trigonometric(x, false);
}
template <int W>
TX_INLINE simd<f32, W> cos(simd<f32, W> x) {
  return detail::trigonometric(x, true);
}

template <int W>
TX_INLINE simd<f32, W> pow(simd<f32, W> x, std::type_identity_t<simd<f32, W>> y) {
  using I = simd<i64, W>;
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr double round = 0x1.8p52;
  auto const a = abs(x);
  // log2 |x| = k + log2 m, sqrt(1/2) <= m < sqrt(2); f32 denormals are normal in f64.
  auto const i = bits<i64>(convert<f64>(a));
  auto const k = (i - I(0x3fe6a09e667f3bcd)) >> 52;
  auto const m = bits<f64>(i - (k << 52));
  auto const t = (m - 1.) / (m + 1.);
  auto const p = detail::polynomial(t * t, 2.8853900817778499, 0.96179669411343571, 0.57707794233584087,
                                    0.41220925550619819, 0.31990556064718112, 0.28290221720968756);
  auto const k_value = bits<f64>(k + I(0x4338000000000000)) - round;
  auto const z = max(min((k_value + t * p) * convert<f64>(y), 300.), -300.);
  auto const rounded = z + round;
  auto const f = z - (rounded - round);
  auto const q = detail::polynomial(f, 1., 0.69314718054817548, 0.24022650705330559, 0.055504109385187843,
                                    0.009618128412307381, 0.0013333446699924688, 0.00015402539991374528,
                                    1.5314665613398799e-05, 1.3838883446282181e-06);
  auto r = convert<f32>(bits<f64>(bits<i64>(q) + (bits<i64>(rounded) << 52)));

  r = select(a == 0.f || a == inf, select((a == 0.f) == (y < 0.f), inf, simd<f32, W>(0.f)), r);
  r = select(a == 1.f, 1.f, r);
  auto const integer = floor(y) == y;
  auto const odd = integer && abs(y) < 0x1p24f && (convert<i32>(y) & 1) != 0;
  auto const negative = bits<i32>(x) < 0;
  r = select(negative && odd, -r, r);
  r = select(x < 0.f && x != -inf && !integer, std::numeric_limits<float>::quiet_NaN(), r);
  r = select(x != x || y != y, x + y, r);
  return select(y == 0.f || x == 1.f, 1.f, r);
}

namespace detail {
// As math::detail::fitting.
template <bool Back, int W>
TX_INLINE simd<f32, W> fitting(simd<f32, W> greatest) {
  using I = simd<i32, W>;
  I const magnitude = bits<i32>(greatest) & I(0x7fffffff), above = (magnitude + I(0x1fffff)) >> 23;
  I const exponent = select(magnitude == I(0), I(127), select(above > I(262 - 253), I(262) - above, I(253)));
  return bits<f32>(select(magnitude > I(0x7f800000), bits<i32>(greatest), (Back ? I(254) - exponent : exponent) << 23));
}
}  // namespace detail
template <int W>
TX_INLINE simd<f32, W> fitting_power(simd<f32, W> greatest) {
  return detail::fitting<false>(greatest);
}
template <int W>
TX_INLINE simd<f32, W> fitting_unit(simd<f32, W> greatest) {
  return detail::fitting<true>(greatest);
}

template <class T, int W>
TX_INLINE simd<T, W> rsqrt(simd<T, W> x) {
  return T(1) / sqrt(x);
}

namespace detail {

template <int W, class F, class... V>
TX_INLINE simd<f64, W> lane_by_lane(F f, V... x) {
  simd<f64, W> r;
  for (int i = 0; i < W; ++i) r.set(i, f(x[i]...));
  return r;
}

}  // namespace detail

template <int W>
TX_INLINE simd<f64, W> exp(simd<f64, W> x) {
  return detail::lane_by_lane<W>([](double v) { return std::exp(v); }, x);
}
template <int W>
TX_INLINE simd<f64, W> expm1(simd<f64, W> x) {
  return detail::lane_by_lane<W>([](double v) { return std::expm1(v); }, x);
}
template <int W>
TX_INLINE simd<f64, W> log(simd<f64, W> x) {
  return detail::lane_by_lane<W>([](double v) { return std::log(v); }, x);
}
template <int W>
TX_INLINE simd<f64, W> log1p(simd<f64, W> x) {
  return detail::lane_by_lane<W>([](double v) { return std::log1p(v); }, x);
}
template <int W>
TX_INLINE simd<f64, W> tanh(simd<f64, W> x) {
  return detail::lane_by_lane<W>([](double v) { return std::tanh(v); }, x);
}
template <int W>
TX_INLINE simd<f64, W> erf(simd<f64, W> x) {
  return detail::lane_by_lane<W>([](double v) { return std::erf(v); }, x);
}
template <int W>
TX_INLINE simd<f64, W> sin(simd<f64, W> x) {
  return detail::lane_by_lane<W>([](double v) { return std::sin(v); }, x);
}
template <int W>
TX_INLINE simd<f64, W> cos(simd<f64, W> x) {
  return detail::lane_by_lane<W>([](double v) { return std::cos(v); }, x);
}
template <int W>
TX_INLINE simd<f64, W> pow(simd<f64, W> x, std::type_identity_t<simd<f64, W>> y) {
  return detail::lane_by_lane<W>([](double v, double w) { return std::pow(v, w); }, x, y);
}
template <int W>
TX_INLINE simd<f64, W> fitting_power(simd<f64, W> x) {
  return detail::lane_by_lane<W>([](double v) { return math::fitting_power(v); }, x);
}
template <int W>
TX_INLINE simd<f64, W> fitting_unit(simd<f64, W> x) {
  return detail::lane_by_lane<W>([](double v) { return math::fitting_unit(v); }, x);
}
template <int W>
TX_INLINE simd<f64, W> sigmoid(simd<f64, W> x) {
  auto const z = exp(-abs(x));
  return select(x < 0., z, 1.) / (1. + z);
}

}  // namespace tx::backends::cpu
