// Elements in memory and values in registers: halves and E4M3 widen to f32, small integers to i32, bool becomes a mask.
#pragma once

#include <tx/backends/cpu/halves.hpp>

namespace tx::backends::cpu {

template <dtype D>
struct register_of {
  using type = i32;
};
template <> struct register_of<dtype::f64> { using type = f64; };
template <> struct register_of<dtype::f32> { using type = f32; };
template <> struct register_of<dtype::bf16> { using type = f32; };
template <> struct register_of<dtype::f16> { using type = f32; };
template <> struct register_of<dtype::e4m3> { using type = f32; };
template <> struct register_of<dtype::i64> { using type = i64; };
template <> struct register_of<dtype::boolean> { using type = bool; };

template <dtype D>
using scalar_t = typename register_of<D>::type;
template <dtype D>
using lanes_t = simd<scalar_t<D>>;

template <dtype D>
TX_INLINE scalar_t<D> load_scalar(std::byte const* p) {
  element_t<D> x;
  __builtin_memcpy(&x, p, sizeof x);
  if constexpr (is_storage_only(D)) return x.widen();
  else return static_cast<scalar_t<D>>(x);
}

template <dtype D>
TX_INLINE void store_scalar(std::byte* p, scalar_t<D> value) {
  element_t<D> x;
  if constexpr (is_storage_only(D)) x = element_t<D>::from(value);
  else x = static_cast<element_t<D>>(value);
  __builtin_memcpy(p, &x, sizeof x);
}

// n elements (all lanes if Exact), `stride` elements apart.
template <dtype D, bool Exact>
TX_INLINE lanes_t<D> load_lanes(std::byte const* p, int n, std::int64_t stride = 1) {
  using T = scalar_t<D>;
  if constexpr (std::is_same_v<T, element_t<D>> && D != dtype::boolean) {
    if (stride == 1) {
      auto const* const q = reinterpret_cast<T const*>(p);
      if (Exact || n == lanes) return simd<T>::load(q);
      return simd<T>::load_n(q, n);
    }
  }
  if constexpr (is_storage_only(D)) {
    if (stride == 1 && (Exact || n == lanes)) return widen<element_t<D>>(load_bits(reinterpret_cast<element_t<D> const*>(p)));
  }
  lanes_t<D> r(T{});
  for (int i = 0; i < (Exact ? lanes : n); ++i) r.set(i, load_scalar<D>(p + i * stride * size_of(D)));
  return r;
}

template <dtype D, bool Exact>
TX_INLINE void store_lanes(std::byte* p, lanes_t<D> value, int n) {
  using T = scalar_t<D>;
  if constexpr (std::is_same_v<T, element_t<D>> && D != dtype::boolean) {
    auto* const q = reinterpret_cast<T*>(p);
    if (Exact || n == lanes) value.store(q);
    else value.store_n(q, n);
  } else {
    if constexpr (is_storage_only(D))
      if (Exact || n == lanes) return store_rounded(reinterpret_cast<element_t<D>*>(p), value);
    for (int i = 0; i < (Exact ? lanes : n); ++i) store_scalar<D>(p + i * size_of(D), value[i]);
  }
}

// A result of type D as it would be read back from memory: halves and E4M3 rounded, small integers cut to their bits.
template <dtype D>
TX_INLINE lanes_t<D> as_stored(lanes_t<D> x) {
  if constexpr (is_storage_only(D)) return round_to<element_t<D>>(x);
  else if constexpr (D == dtype::u8) return x & lanes_t<D>(0xff);
  else if constexpr (D == dtype::i8) return x << 24 >> 24;
  else if constexpr (D == dtype::i16) return x << 16 >> 16;
  else return x;
}
template <dtype D>
TX_INLINE scalar_t<D> as_stored(scalar_t<D> x) {
  if constexpr (is_storage_only(D)) return element_t<D>::from(x).widen();
  else return static_cast<scalar_t<D>>(static_cast<element_t<D>>(x));
}

// The lanes from n on replaced.
template <class T>
TX_INLINE simd<T> keep_first(simd<T> x, int n, T other) {
  auto const index = []<int... I>(std::integer_sequence<int, I...>) {
    return simd<i32>(typename simd<i32>::vec{I...});
  }(std::make_integer_sequence<int, lanes>{});
  return select(index < simd<i32>(n), x, simd<T>(other));
}

// 0, 1, 2, ... from `first`.
TX_INLINE simd<i32> count_from(std::int64_t first) {
  return []<int... I>(std::integer_sequence<int, I...>) {
    return simd<i32>(typename simd<i32>::vec{I...});
  }(std::make_integer_sequence<int, lanes>{}) + simd<i32>(static_cast<i32>(first));
}

// Combines halves until one value is left: always the same tree.
template <class Rule, class T, int W>
TX_INLINE T combine(simd<T, W> x) {
  if constexpr (W == 2) return Rule::apply(x[0], x[1]);
  else return combine<Rule>(Rule::apply(low(x), high(x)));
}

}  // namespace tx::backends::cpu
