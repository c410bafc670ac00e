// The order in which parts are added: a binary tree of neighbours, ((0 + 1) + (2 + 3)) + (4 + 5) for six of them.
// A rank's 2^k parts are a subtree, so ranks that add their own parts first (running_sum in data_parallel.hpp) get the bits of one rank with all.
#pragma once

#include <tx/core/dtype.hpp>

#include <cstdint>
#include <type_traits>

namespace tx::dist {

// Halves are added in f32.
template <class T>
using sum_type = std::conditional_t<std::is_same_v<T, bf16> || std::is_same_v<T, f16> || std::is_same_v<T, e4m3>, float, T>;
template <class T>
T rounded(sum_type<T> x) {
  if constexpr (std::is_same_v<T, sum_type<T>>) return x;
  else return T::from(x);
}

namespace detail {

inline constexpr int tree_chunk = 256;

// The smallest power of two that is at least n.
constexpr int tree_width(int n) {
  int width = 1;
  while (width < n) width *= 2;
  return width;
}

template <class T>
sum_type<T> widened(T x) {
  if constexpr (std::is_same_v<T, sum_type<T>>) return x;
  else return x.widen();
}

// sum[0 .. count): elements from `at` on, of the parts from `first` to `first + width` that exist.
template <class T, class Part>
void tree_sum(Part const& part, int parts, int first, int width, std::int64_t at, int count, T* sum) {
  if (width == 1) {
    auto const* const from = part(first) + at;
    for (int i = 0; i < count; ++i) sum[i] = widened(from[i]);
    return;
  }
  int const half_width = width / 2;
  tree_sum(part, parts, first, half_width, at, count, sum);
  if (first + half_width >= parts) return;
  T right[tree_chunk];
  tree_sum(part, parts, first + half_width, half_width, at, count, right);
  for (int i = 0; i < count; ++i) sum[i] += right[i];
}

}  // namespace detail

// part(k): where the elements of part k start, of type T or halves. Calls store(first, count, sums) for elements begin .. end, in pieces; an
// element of a part is not read any more when its sum is stored.
template <class T, class Part, class Store>
void tree_sum(Part const& part, int parts, std::int64_t begin, std::int64_t end, Store const& store) {
  T sum[detail::tree_chunk];
  for (std::int64_t at = begin; at < end; at += detail::tree_chunk) {
    int const count = static_cast<int>(end - at < detail::tree_chunk ? end - at : detail::tree_chunk);
    detail::tree_sum(part, parts, 0, detail::tree_width(parts), at, count, sum);
    store(at, count, sum);
  }
}

}  // namespace tx::dist
