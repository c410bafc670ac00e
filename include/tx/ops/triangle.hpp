// tril<K>(x) and triu<K>(x): the elements of the last two axes on and below, or on and above, diagonal K, which holds
// column row + K; 0 (or false) elsewhere. [..., M, N] -> the same. lower_triangle<K>(like), upper_triangle<K>(like): where these are, a bool
// tensor of that shape; lower_triangle over scores [..., queries, keys] is a causal mask.
// Errors: fewer than two axes.
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
template <bool Lower, int K>
struct triangle_fn {
  constexpr var operator()(var like) const {
    if (like.dims().rank < 2)
      throw invalid("tril, triu: a triangle lies in two axes, the last ones. FIX: reshape to [..., rows, columns]");
    var const row = iota(*like.g, like.dims(), -2);
    var const column = iota(*like.g, like.dims(), -1);
    var const diagonal = K == 0 ? row : row + K;
    return Lower ? less_equal(column, diagonal) : less_equal(diagonal, column);
  }
};
template <bool Lower, int K>
struct triangle_of_fn {
  constexpr var operator()(var x) const {
    var const inside = triangle_fn<Lower, K>{}(x);
    return x.type() == dtype::boolean ? logical_and(inside, x) : where(inside, x, 0);
  }
};
}  // namespace detail

template <int K = 0, handle X>
constexpr auto lower_triangle(X const& like) {
  return lift<detail::triangle_fn<true, K>>(like);
}
template <int K = 0, handle X>
constexpr auto upper_triangle(X const& like) {
  return lift<detail::triangle_fn<false, K>>(like);
}
template <int K = 0, handle X>
constexpr auto tril(X const& x) {
  return lift<detail::triangle_of_fn<true, K>>(x);
}
template <int K = 0, handle X>
constexpr auto triu(X const& x) {
  return lift<detail::triangle_of_fn<false, K>>(x);
}

}  // namespace tx
