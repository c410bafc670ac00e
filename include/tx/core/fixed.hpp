// Arrays that a frozen plan is made of: exact size, literal type, nothing to free.
#pragma once

#include <tx/config.hpp>

namespace tx {

// N elements, N may be 0.
template <class T, int N>
struct fixed {
  T items[N > 0 ? N : 1];

  static constexpr int size() { return N; }
  constexpr T const& operator[](int i) const { return items[i]; }
  constexpr T& operator[](int i) { return items[i]; }
  constexpr T const* begin() const { return items; }
  constexpr T const* end() const { return items + N; }
};

// Up to N elements: the result of a constant evaluation whose size is not known before it ran.
template <class T, int N>
struct bounded_array {
  T items[N];
  int count;

  constexpr int size() const { return count; }
  constexpr T const& operator[](int i) const { return items[i]; }
  constexpr T& operator[](int i) { return items[i]; }
  constexpr T const* begin() const { return items; }
  constexpr T const* end() const { return items + count; }
};

template <class T, int N, class From>
constexpr fixed<T, N> freeze(From const& from) {
  fixed<T, N> out{};
  for (int i = 0; i < N; ++i) out.items[i] = from[i];
  return out;
}

}  // namespace tx
