// split<Axis, Parts>(x): an array of equal parts of an axis. split_sizes<Axis, Sizes...>(x): a tuple of parts of these extents. [2, 6] -> three of [2, 2] for
// split<1, 3>; [2, 1], [2, 2] and [2, 3] for split_sizes<1, 1, 2, 3>. They are slices, so nothing moves: auto const [q, k, v] = split<-1, 3>(x) takes [n, 3 h]
// to three of [n, h].
// Errors: an extent that the parts do not divide or the sizes do not add up to.
#pragma once

#include <tx/ops/lines.hpp>
#include <tx/ops/slice.hpp>

#include <array>

namespace tx {

namespace detail {
inline constexpr char const* no_split_axis =
    "split: the tensor has no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1";

template <int Axis, int Parts, int K>
struct split_fn {
  constexpr var operator()(var x) const {
    int const axis = named_axis(x.dims(), Axis, no_split_axis);
    int const extent = x.dims().dim[axis];
    if (extent % Parts != 0)
      throw invalid("split: the extent is no multiple of the number of parts. FIX: split_sizes<Axis, Sizes...>(x)");
    return slice(x, axis, K * (extent / Parts), extent / Parts, 1);
  }
};

template <int Axis, int Start, int Count, int All>
struct split_size_fn {
  constexpr var operator()(var x) const {
    int const axis = named_axis(x.dims(), Axis, no_split_axis);
    if (x.dims().dim[axis] != All)
      throw invalid("split_sizes: the sizes do not add up to the extent. FIX: give one for each part, the last one too");
    return slice(x, axis, Start, Count, 1);
  }
};

// The sum of the sizes before number `which`.
template <int... Sizes>
constexpr int size_before(int which) {
  int const sizes[] = {Sizes...};
  int sum = 0;
  for (int i = 0; i < which; ++i) sum += sizes[i];
  return sum;
}
}  // namespace detail

template <int Axis, int Parts, handle X>
  requires(Parts > 0)
constexpr auto split(X const& x) {
  return [&]<int... K>(std::integer_sequence<int, K...>) {
    return std::array{lift<detail::split_fn<Axis, Parts, K>>(x)...};
  }(std::make_integer_sequence<int, Parts>{});
}

template <int Axis, int... Sizes, handle X>
  requires(sizeof...(Sizes) > 0)
constexpr auto split_sizes(X const& x) {
  return [&]<int... K>(std::integer_sequence<int, K...>) {
    return std::tuple{lift<detail::split_size_fn<Axis, detail::size_before<Sizes...>(K), Sizes, (Sizes + ...)>>(x)...};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Sizes))>{});
}

}  // namespace tx
