// What ranks bring to a sum, and what it is.
#pragma once

#include <tx/dist/tree_sum.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

// Of rank r: sums of these depend on the order of the additions, in every type.
template <class T>
T element(int r, std::size_t i) {
  double const x = std::sin(static_cast<double>(i + 1) * 0.37) * std::pow(10.0, (r * 5 + static_cast<int>(i % 7)) % 7 - 3);
  return tx::dist::rounded<T>(static_cast<tx::dist::sum_type<T>>(x));
}
template <class T>
std::vector<T> part(int r, std::size_t count) {
  std::vector<T> v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = element<T>(r, i);
  return v;
}
// Neighbours are added until one is left.
template <class T>
T tree(int ranks, std::size_t i) {
  std::vector<tx::dist::sum_type<T>> v;
  for (int r = 0; r < ranks; ++r) v.push_back(tx::dist::detail::widened(element<T>(r, i)));
  while (v.size() > 1) {
    std::vector<tx::dist::sum_type<T>> next;
    for (std::size_t k = 0; k < v.size(); k += 2) next.push_back(k + 1 < v.size() ? v[k] + v[k + 1] : v[k]);
    v = next;
  }
  return tx::dist::rounded<T>(v[0]);
}
