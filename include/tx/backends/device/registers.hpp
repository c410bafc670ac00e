// Elements in memory and values in registers: halves and E4M3 widen to f32, small integers to i32.
#pragma once

#include <tx/backends/device/vocabulary.hpp>
#include <tx/core/dtype.hpp>

#include <cstdint>

#include <type_traits>

namespace tx::backends::device {

template <dtype D>
using register_t = std::conditional_t<is_storage_only(D), f32,
                                      std::conditional_t<D == dtype::i8 || D == dtype::i16 || D == dtype::u8, i32, element_t<D>>>;

// Element number i.
template <dtype D>
TX_DEVICE register_t<D> load(std::byte const* p, std::int64_t i) {
  element_t<D> const x = reinterpret_cast<element_t<D> const*>(p)[i];
  if constexpr (is_storage_only(D)) return x.widen();
  else return static_cast<register_t<D>>(x);
}

template <dtype D>
TX_DEVICE void store(std::byte* p, std::int64_t i, register_t<D> value) {
  element_t<D>& x = reinterpret_cast<element_t<D>*>(p)[i];
  if constexpr (is_storage_only(D)) x = element_t<D>::from(value);
  else x = static_cast<element_t<D>>(value);
}

// Neighbouring columns in registers.
template <class T, int N>
struct columns {
  T x[N];
};

namespace detail {
// Elements as words, so that they are read and written at once.
template <int Bytes>
struct __attribute__((may_alias, aligned(Bytes < 16 ? Bytes : 16))) words {
  std::uint32_t word[Bytes / 4];
};
template <class T, int N>
inline constexpr bool in_words = N > 1 && N * sizeof(T) % 4 == 0;
}  // namespace detail

// Elements as they lie in memory, [N]: what was asked for, and is not waited for before it is widened.
template <dtype D, int N>
struct fetched_columns {
  static constexpr int bytes = N * static_cast<int>(sizeof(element_t<D>));
  std::conditional_t<detail::in_words<element_t<D>, N>, detail::words<bytes>, columns<element_t<D>, N>> all;

  TX_DEVICE columns<register_t<D>, N> widened() const {
    columns<register_t<D>, N> out;
    TX_UNROLL
    for (int i = 0; i < N; ++i) {
      element_t<D> one;
      __builtin_memcpy(&one, reinterpret_cast<std::byte const*>(&all) + i * static_cast<int>(sizeof one), sizeof one);
      out.x[i] = load<D>(reinterpret_cast<std::byte const*>(&one), 0);
    }
    return out;
  }
};
// p[0 .. N), which begin at a multiple of their bytes, or of 16.
template <dtype D, int N>
TX_DEVICE fetched_columns<D, N> fetch_columns(std::byte const* p) {
  return {*reinterpret_cast<decltype(fetched_columns<D, N>::all) const*>(p)};
}
// p[0], p[apart] ...
template <dtype D, int N>
TX_DEVICE fetched_columns<D, N> fetch_apart(std::byte const* p, std::int64_t apart) {
  fetched_columns<D, N> out;
  TX_UNROLL
  for (int i = 0; i < N; ++i) __builtin_memcpy(reinterpret_cast<std::byte*>(&out.all) + i * static_cast<int>(sizeof(element_t<D>)), reinterpret_cast<element_t<D> const*>(p) + i * apart, sizeof(element_t<D>));
  return out;
}
// Two values as halves lie in memory, `low` first.
template <dtype D>
  requires(is_half(D))
TX_DEVICE std::uint32_t two_halves(float low, float high) {
#if defined(__CUDA_ARCH__)
  if constexpr (D == dtype::bf16) return tx::detail::narrowed_to_bf16(low, high);
  else return tx::detail::narrowed_to_f16(low, high);
#else
  element_t<D> const two[2] = {element_t<D>::from(low), element_t<D>::from(high)};
  std::uint32_t word = 0;
  __builtin_memcpy(&word, two, sizeof word);
  return word;
#endif
}
// wide: p is a multiple of their bytes, or of 16.
template <dtype D, int N>
TX_DEVICE void store_columns(std::byte* p, columns<register_t<D>, N> const& values, bool wide) {
  constexpr int bytes = N * static_cast<int>(sizeof(element_t<D>));
  if constexpr (detail::in_words<element_t<D>, N>) {
    if (wide) {
      detail::words<bytes> all;
      if constexpr (is_half(D)) {
        TX_UNROLL
        for (int i = 0; i < N / 2; ++i) all.word[i] = two_halves<D>(values.x[2 * i], values.x[2 * i + 1]);
      } else {
        TX_UNROLL
        for (int i = 0; i < N; ++i) {
          element_t<D> one;
          store<D>(reinterpret_cast<std::byte*>(&one), 0, values.x[i]);
          __builtin_memcpy(reinterpret_cast<std::byte*>(all.word) + i * static_cast<int>(sizeof one), &one, sizeof one);
        }
      }
      *reinterpret_cast<detail::words<bytes>*>(p) = all;
      return;
    }
  }
  TX_UNROLL
  for (int i = 0; i < N; ++i) store<D>(p, i, values.x[i]);
}
// The same of values as registers hold them, in memory of the kernel's own that is laid out for it.
template <class T, int N>
TX_DEVICE columns<T, N> load_own(std::byte const* p) {
  columns<T, N> out;
  if constexpr (detail::in_words<T, N>) {
    auto const all = *reinterpret_cast<detail::words<N * static_cast<int>(sizeof(T))> const*>(p);
    __builtin_memcpy(&out, &all, sizeof out);
  } else {
    for (int i = 0; i < N; ++i) out.x[i] = reinterpret_cast<T const*>(p)[i];
  }
  return out;
}
template <class T, int N>
TX_DEVICE void store_own(std::byte* p, columns<T, N> const& values) {
  if constexpr (detail::in_words<T, N>) {
    detail::words<N * static_cast<int>(sizeof(T))> all;
    __builtin_memcpy(&all, &values, sizeof all);
    *reinterpret_cast<detail::words<N * static_cast<int>(sizeof(T))>*>(p) = all;
  } else {
    for (int i = 0; i < N; ++i) reinterpret_cast<T*>(p)[i] = values.x[i];
  }
}

// A result of type D as it would be read back from memory: halves and E4M3 rounded, small integers cut to their bits.
template <dtype D>
TX_DEVICE register_t<D> as_stored(register_t<D> x) {
  if constexpr (is_storage_only(D)) return element_t<D>::from(x).widen();
  else return static_cast<register_t<D>>(static_cast<element_t<D>>(x));
}

}  // namespace tx::backends::device
