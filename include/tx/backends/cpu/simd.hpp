// simd<T, W>: W values of T worked on at once; one source for AVX-512, AVX2, SSE2 and whatever else has vector types.
//
//   simd<f32> x = simd<f32>::load(p);            // lanes values, any alignment
//   x = select(x > 0.f, x, 0.1f * x);            // scalars broadcast, comparisons make a simd<bool, W>
//   x.store_n(q, n);                             // a tail: touches q[0] .. q[n-1] only
//   float s = reduce_add(x);                     // always the same tree
//
// What fits a hardware register holds one compiler vector `v`; anything wider is two halves `lo` and `hi`, because GCC
// takes comparisons of over-wide vectors apart element by element. Everything is inlined: no vector crosses an ABI.
#pragma once

#include <tx/backends/cpu/vector_type.hpp>

namespace tx::backends::cpu {

template <class T, int W = lanes>
struct simd;

// One register (or less).
template <class T, int W>
struct simd {
  using value_type = T;
  using vec = detail::vector_t<detail::lane_t<T>, W>;
  using mask = simd<bool, W>;
  static constexpr int size = W;
  vec v;

  simd() = default;
  TX_INLINE explicit simd(vec x) : v(x) {}
  TX_INLINE simd(T x)
    requires(!std::is_same_v<T, bool>)
      : v(x - vec{}) {}  // x - 0 keeps the sign of -0
  // V(0.05) in a rule that is written once for all types.
  template <std::floating_point S>
    requires(std::is_floating_point_v<T> && !std::is_same_v<S, T>)
  TX_INLINE explicit simd(S x) : simd(static_cast<T>(x)) {}
  template <std::same_as<bool> B>
  TX_INLINE simd(B x)
    requires std::is_same_v<T, bool>
      : v(-static_cast<i32>(x) - vec{}) {}

  static TX_INLINE simd load(T const* p) {
    simd r;
    __builtin_memcpy(&r.v, p, sizeof(vec));
    return r;
  }
  TX_INLINE void store(T* p) const { __builtin_memcpy(p, &v, sizeof(vec)); }
  // The first n values, 0 <= n <= W; the other lanes are 0. Memory past p[n-1] is not touched.
  static TX_INLINE simd load_n(T const* p, int n) { return simd(detail::load_first<vec>(p, n)); }
  TX_INLINE void store_n(T* p, int n) const { detail::store_first(v, p, n); }
  // p[0], p[stride], p[2 stride], ...
  static TX_INLINE simd load_strided(T const* p, std::ptrdiff_t stride) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return simd(vec{p[I * stride]...});
    }(std::make_integer_sequence<int, W>{});
  }
  TX_INLINE T operator[](int i) const { return static_cast<T>(v[i]); }
  TX_INLINE void set(int i, T x) {
    if constexpr (std::is_same_v<T, bool>) v[i] = -static_cast<i32>(x);
    else v[i] = x;
  }

  friend TX_INLINE simd operator+(simd a, simd b) { return simd(a.v + b.v); }
  friend TX_INLINE simd operator-(simd a, simd b) { return simd(a.v - b.v); }
  friend TX_INLINE simd operator*(simd a, simd b) { return simd(a.v * b.v); }
  friend TX_INLINE simd operator/(simd a, simd b) { return simd(a.v / b.v); }
  friend TX_INLINE simd operator-(simd a) { return simd(-a.v); }
  friend TX_INLINE simd operator&(simd a, simd b) { return simd(a.v & b.v); }
  friend TX_INLINE simd operator|(simd a, simd b) { return simd(a.v | b.v); }
  friend TX_INLINE simd operator^(simd a, simd b) { return simd(a.v ^ b.v); }
  friend TX_INLINE simd operator<<(simd a, int n) { return simd(a.v << n); }
  friend TX_INLINE simd operator>>(simd a, int n) { return simd(a.v >> n); }  // arithmetic
  friend TX_INLINE mask operator<(simd a, simd b) { return to_mask(order(a) < order(b)); }
  friend TX_INLINE mask operator<=(simd a, simd b) { return to_mask(order(a) <= order(b)); }
  friend TX_INLINE mask operator>(simd a, simd b) { return to_mask(order(a) > order(b)); }
  friend TX_INLINE mask operator>=(simd a, simd b) { return to_mask(order(a) >= order(b)); }
  friend TX_INLINE mask operator==(simd a, simd b) { return to_mask(a.v == b.v); }
  friend TX_INLINE mask operator!=(simd a, simd b) { return to_mask(a.v != b.v); }
  friend TX_INLINE simd operator&&(simd a, simd b) requires std::is_same_v<T, bool> { return simd(a.v & b.v); }
  friend TX_INLINE simd operator||(simd a, simd b) requires std::is_same_v<T, bool> { return simd(a.v | b.v); }
  friend TX_INLINE simd operator!(simd a) requires std::is_same_v<T, bool> { return simd(~a.v); }

  friend TX_INLINE simd select(mask m, simd a, simd b) {
    if constexpr (sizeof(T) == 8) return simd(__builtin_convertvector(m.v, detail::vector_t<i64, W>) ? a.v : b.v);
    else return simd(m.v ? a.v : b.v);
  }
  // As std::min and std::max: the first argument where either is NaN, so max(x, 0) keeps a NaN in x. One instruction.
  friend TX_INLINE simd min(simd a, simd b) { return simd(order(b) < order(a) ? b.v : a.v); }
  friend TX_INLINE simd max(simd a, simd b) { return simd(order(a) < order(b) ? b.v : a.v); }
  friend TX_INLINE simd abs(simd a) {
    if constexpr (std::is_same_v<T, f32>) return simd((vec)((detail::vector_t<i32, W>)a.v & 0x7fffffff));
    else if constexpr (std::is_same_v<T, f64>) return simd((vec)((detail::vector_t<i64, W>)a.v & 0x7fffffffffffffff));
    else return simd(a.v < vec{} ? -a.v : a.v);
  }
  // As math::divide: lanes beside a tail hold 0, and integers trap at that.
  friend TX_INLINE simd divide(simd a, simd b) {
    if constexpr (std::is_integral_v<T>) {
      vec const none = (vec)(b.v == vec{}), opposite = (vec)(b.v == vec{} - 1);
      vec const quotient = a.v / (none | opposite ? vec{} + 1 : b.v);
      return simd(none ? vec{} : opposite ? vec{} - a.v : quotient);
    } else {
      return a / b;
    }
  }
  friend TX_INLINE simd sqrt(simd a) { return simd(detail::sqrt_of(a.v)); }
  friend TX_INLINE simd floor(simd a) {
    if constexpr (std::is_integral_v<T>) return a;
    else return simd(detail::floor_of(a.v));
  }
  // a * b + c: rounded once where the hardware can, twice where it cannot (SSE2).
  friend TX_INLINE simd fma(simd a, simd b, simd c) {
    if constexpr (std::is_integral_v<T>) return simd(a.v * b.v + c.v);
    else return simd(detail::fma_of(a.v, b.v, c.v));
  }

 private:
  // What comparisons compare: false is less than true, whose lanes are -1.
  static TX_INLINE vec order(simd a) {
    if constexpr (std::is_same_v<T, bool>) return -a.v;
    else return a.v;
  }
  template <class M>
  static TX_INLINE mask to_mask(M m) {
    if constexpr (sizeof(T) == 8) return mask(__builtin_convertvector(m, detail::vector_t<i32, W>));
    else return mask((detail::vector_t<i32, W>)m);
  }
};

// Two halves: what one register does not hold.
template <class T, int W>
  requires detail::wide<T, W>
struct simd<T, W> {
  using value_type = T;
  using half = simd<T, W / 2>;
  using mask = simd<bool, W>;
  static constexpr int size = W;
  half lo, hi;

  simd() = default;
  TX_INLINE simd(half a, half b) : lo(a), hi(b) {}
  template <std::convertible_to<T> S>
    requires std::is_arithmetic_v<S>
  TX_INLINE simd(S x) : lo(static_cast<T>(x)), hi(static_cast<T>(x)) {}

  static TX_INLINE simd load(T const* p) { return {half::load(p), half::load(p + W / 2)}; }
  TX_INLINE void store(T* p) const {
    lo.store(p);
    hi.store(p + W / 2);
  }
  static TX_INLINE simd load_n(T const* p, int n) {
    if (n <= W / 2) return {half::load_n(p, n), half(T{})};
    return {half::load(p), half::load_n(p + W / 2, n - W / 2)};
  }
  TX_INLINE void store_n(T* p, int n) const {
    if (n <= W / 2) return lo.store_n(p, n);
    lo.store(p);
    hi.store_n(p + W / 2, n - W / 2);
  }
  static TX_INLINE simd load_strided(T const* p, std::ptrdiff_t stride) {
    return {half::load_strided(p, stride), half::load_strided(p + W / 2 * stride, stride)};
  }
  TX_INLINE T operator[](int i) const { return i < W / 2 ? lo[i] : hi[i - W / 2]; }
  TX_INLINE void set(int i, T x) { i < W / 2 ? lo.set(i, x) : hi.set(i - W / 2, x); }

  friend TX_INLINE simd operator+(simd a, simd b) { return {a.lo + b.lo, a.hi + b.hi}; }
  friend TX_INLINE simd operator-(simd a, simd b) { return {a.lo - b.lo, a.hi - b.hi}; }
  friend TX_INLINE simd operator*(simd a, simd b) { return {a.lo * b.lo, a.hi * b.hi}; }
  friend TX_INLINE simd operator/(simd a, simd b) { return {a.lo / b.lo, a.hi / b.hi}; }
  friend TX_INLINE simd operator-(simd a) { return {-a.lo, -a.hi}; }
  friend TX_INLINE simd operator&(simd a, simd b) { return {a.lo & b.lo, a.hi & b.hi}; }
  friend TX_INLINE simd operator|(simd a, simd b) { return {a.lo | b.lo, a.hi | b.hi}; }
  friend TX_INLINE simd operator^(simd a, simd b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
  friend TX_INLINE simd operator<<(simd a, int n) { return {a.lo << n, a.hi << n}; }
  friend TX_INLINE simd operator>>(simd a, int n) { return {a.lo >> n, a.hi >> n}; }
  friend TX_INLINE mask operator<(simd a, simd b) { return join(a.lo < b.lo, a.hi < b.hi); }
  friend TX_INLINE mask operator<=(simd a, simd b) { return join(a.lo <= b.lo, a.hi <= b.hi); }
  friend TX_INLINE mask operator>(simd a, simd b) { return join(a.lo > b.lo, a.hi > b.hi); }
  friend TX_INLINE mask operator>=(simd a, simd b) { return join(a.lo >= b.lo, a.hi >= b.hi); }
  friend TX_INLINE mask operator==(simd a, simd b) { return join(a.lo == b.lo, a.hi == b.hi); }
  friend TX_INLINE mask operator!=(simd a, simd b) { return join(a.lo != b.lo, a.hi != b.hi); }
  friend TX_INLINE simd operator&&(simd a, simd b) requires std::is_same_v<T, bool> {
    return {a.lo && b.lo, a.hi && b.hi};
  }
  friend TX_INLINE simd operator||(simd a, simd b) requires std::is_same_v<T, bool> {
    return {a.lo || b.lo, a.hi || b.hi};
  }
  friend TX_INLINE simd operator!(simd a) requires std::is_same_v<T, bool> { return {!a.lo, !a.hi}; }

  friend TX_INLINE simd select(mask m, simd a, simd b) {
    return {select(low(m), a.lo, b.lo), select(high(m), a.hi, b.hi)};
  }
  friend TX_INLINE simd min(simd a, simd b) { return {min(a.lo, b.lo), min(a.hi, b.hi)}; }
  friend TX_INLINE simd max(simd a, simd b) { return {max(a.lo, b.lo), max(a.hi, b.hi)}; }
  friend TX_INLINE simd abs(simd a) { return {abs(a.lo), abs(a.hi)}; }
  friend TX_INLINE simd divide(simd a, simd b) { return {divide(a.lo, b.lo), divide(a.hi, b.hi)}; }
  friend TX_INLINE simd sqrt(simd a) { return {sqrt(a.lo), sqrt(a.hi)}; }
  friend TX_INLINE simd floor(simd a) { return {floor(a.lo), floor(a.hi)}; }
  friend TX_INLINE simd fma(simd a, simd b, simd c) { return {fma(a.lo, b.lo, c.lo), fma(a.hi, b.hi, c.hi)}; }
};

// Halves and their joining, however the values are held.
template <class T, int W>
TX_INLINE simd<T, W / 2> low(simd<T, W> a) {
  if constexpr (detail::wide<T, W>) return a.lo;
  else
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return simd<T, W / 2>(__builtin_shufflevector(a.v, a.v, I...));
    }(std::make_integer_sequence<int, W / 2>{});
}
template <class T, int W>
TX_INLINE simd<T, W / 2> high(simd<T, W> a) {
  if constexpr (detail::wide<T, W>) return a.hi;
  else
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return simd<T, W / 2>(__builtin_shufflevector(a.v, a.v, I + W / 2 ...));
    }(std::make_integer_sequence<int, W / 2>{});
}
template <class T, int W>
TX_INLINE simd<T, 2 * W> join(simd<T, W> a, simd<T, W> b) {
  if constexpr (detail::wide<T, 2 * W>) return {a, b};
  else
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return simd<T, 2 * W>(__builtin_shufflevector(a.v, b.v, I...));
    }(std::make_integer_sequence<int, 2 * W>{});
}

// As static_cast, lane by lane: towards zero from floating point to integers, true is 1, anything but 0 is true.
template <class T, class U, int W>
TX_INLINE simd<T, W> convert(simd<U, W> a) {
  if constexpr (std::is_same_v<T, U>) return a;
  else if constexpr (std::is_same_v<T, bool>) return a != simd<U, W>(U{});
  else if constexpr (detail::wide<T, W> || detail::wide<U, W>) return join(convert<T>(low(a)), convert<T>(high(a)));
  else if constexpr (std::is_same_v<U, bool>) return convert<T>(simd<i32, W>(a.v & 1));
  else return simd<T, W>(__builtin_convertvector(a.v, typename simd<T, W>::vec));
}

// The same bits read as another type of the same size.
template <class T, class U, int W>
  requires(sizeof(T) == sizeof(U))
TX_INLINE simd<T, W> bits(simd<U, W> a) {
  if constexpr (detail::wide<T, W>) return {bits<T>(a.lo), bits<T>(a.hi)};
  else return simd<T, W>((typename simd<T, W>::vec)a.v);
}

// Halves are combined until one value is left: (0, W/2), (1, W/2 + 1), ... A tree that no compiler option changes.
template <class T, int W>
TX_INLINE T reduce_add(simd<T, W> a) {
  if constexpr (W == 2) return a[0] + a[1];
  else return reduce_add(low(a) + high(a));
}
template <class T, int W>
TX_INLINE T reduce_max(simd<T, W> a) {
  if constexpr (W == 2) return a[0] < a[1] ? a[1] : a[0];
  else return reduce_max(max(low(a), high(a)));
}
template <class T, int W>
TX_INLINE T reduce_min(simd<T, W> a) {
  if constexpr (W == 2) return a[1] < a[0] ? a[1] : a[0];
  else return reduce_min(min(low(a), high(a)));
}

template <int W>
TX_INLINE bool any(simd<bool, W> a) {
  if constexpr (W == 2) return a[0] || a[1];
  else return any(low(a) || high(a));
}
template <int W>
TX_INLINE bool all(simd<bool, W> a) {
  return !any(!a);
}

}  // namespace tx::backends::cpu
