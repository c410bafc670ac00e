// transpose<axes...>(x): axis i of the result is axis axes[i] of x. [2, 3, 5] -> [5, 2, 3] for transpose<2, 0, 1>. Without axes: the last two change places.
#pragma once

#include <tx/ops/reshape.hpp>

namespace tx {

// The attributes of a transpose: for each axis of the result the axis of the input that it is.
constexpr int source_axis(attributes const& order, int axis) { return static_cast<int>(order.v[axis]); }
constexpr void set_source_axis(attributes& order, int axis, int source) { order.v[axis] = source; }

namespace detail {
constexpr value_info transpose_infer(value_info const* in, int, attributes const& at) {
  value_info out = in[0];
  unsigned seen = 0;
  for (int i = 0; i < in[0].dims.rank; ++i) {
    int const from = source_axis(at, i);
    if (from < 0 || from >= in[0].dims.rank || (seen & (1u << from)) != 0)
      throw invalid("transpose: the axes must name each axis of the tensor once. FIX: list 0 .. rank-1 in the wanted order");
    seen |= 1u << from;
    if (in[0].dims.bounds == 0) out.dims.dim[i] = in[0].dims.dim[from];
    else out.dims.set(i, in[0].dims.at(from));
  }
  return out;
}
constexpr void transpose_vjp(vjp_context& c);
constexpr int transpose_simplify(simplify_context& c);
constexpr bool transpose_restride(strided& s, shape const& from, shape const& to, attributes const& at) {
  (void)to;
  strided const in = s;
  for (int i = 0; i < from.rank; ++i) s.stride[i] = in.stride[source_axis(at, i)];
  return true;
}
constexpr bool transpose_narrow(selection& s, shape const&, shape const&, attributes& at) {
  if (s) s.axis = source_axis(at, s.axis);
  return true;
}
}  // namespace detail

inline constexpr op_info transpose_info{.name = "transpose",
                                        .kind = op_kind::view,
                                        .arity = 1,
                                        .infer = detail::transpose_infer,
                                        .vjp = detail::transpose_vjp,
                                        .simplify = detail::transpose_simplify,
                                        .restride = detail::transpose_restride,
                                        .narrow = detail::transpose_narrow};

constexpr var transpose(var x, attributes const& axes) {
  bool identity = true;
  for (int i = 0; i < x.dims().rank; ++i) identity = identity && source_axis(axes, i) == i;
  return identity ? x : emit(transpose_info, {x}, axes);
}

// The last two axes change places.
constexpr var transpose(var x) {
  int const rank = x.dims().rank;
  if (rank < 2) throw invalid("transpose: the tensor has fewer than two axes. FIX: reshape a vector to [1, n] or [n, 1]");
  attributes at{};
  for (int i = 0; i < rank; ++i) set_source_axis(at, i, i);
  set_source_axis(at, rank - 2, rank - 1);
  set_source_axis(at, rank - 1, rank - 2);
  return emit(transpose_info, {x}, at);
}

namespace detail {
constexpr void transpose_vjp(vjp_context& c) {
  attributes inverse{};
  for (int i = 0; i < c.self().info.dims.rank; ++i) set_source_axis(inverse, source_axis(c.at(), i), i);
  c.accumulate(0, transpose(c.gradient, inverse));
}

template <int... Axes>
struct transpose_fn {
  constexpr var operator()(var x) const {
    if constexpr (sizeof...(Axes) == 0) {
      return transpose(x);
    } else {
      if (x.dims().rank != sizeof...(Axes)) throw invalid("transpose: as many axes must be named as the tensor has. FIX: name each once, in the order the result has them");
      return transpose(x, attributes{{Axes...}});
    }
  }
};
}  // namespace detail

template <int... Axes, handle X>
constexpr auto transpose(X const& x) {
  return lift<detail::transpose_fn<Axes...>>(x);
}

}  // namespace tx

#include <tx/ops/matmul.hpp>  // a transposed product is the product of the transposed operands

namespace tx::detail {
constexpr int transpose_simplify(simplify_context& c) {
  int const rank = c.info.dims.rank;
  node const& from = c.producer(0);
  bool identity = true;
  for (int i = 0; i < rank; ++i) identity = identity && source_axis(c.at, i) == i;
  if (identity) return c.in[0];
  if (from.op == &transpose_info) {
    attributes both{};
    for (int i = 0; i < rank; ++i) set_source_axis(both, i, source_axis(from.at, source_axis(c.at, i)));
    return transpose(var{&c.g, c.g.input(from, 0)}, both).id;
  }
  bool swaps_last_two = rank >= 2 && source_axis(c.at, rank - 1) == rank - 2 && source_axis(c.at, rank - 2) == rank - 1;
  for (int i = 0; i + 2 < rank; ++i) swaps_last_two = swaps_last_two && source_axis(c.at, i) == i;
  if (from.op == &matmul_info && swaps_last_two) {
    var const a{&c.g, c.g.input(from, 0)};
    var const b{&c.g, c.g.input(from, 1)};
    return emit(matmul_info, {transpose(b), transpose(a)}).id;
  }
  return -1;
}
}  // namespace tx::detail
