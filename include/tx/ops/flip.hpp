// flip<Axes...>(x): the elements along some axes in reverse order. [...] -> the same. The gradient is flipped back.
// It moves elements: strides of views never are negative, which fusion, storage orders and packed products rely on.
#pragma once

#include <tx/ops/lines.hpp>

namespace tx {

namespace detail {
constexpr value_info flip_infer(value_info const* in, int, attributes const&) { return in[0]; }
constexpr void flip_vjp(vjp_context& c);
constexpr int flip_simplify(simplify_context& c);
constexpr bool flip_restride(strided& s, shape const& from, shape const&, attributes const& at) {
  quantity const last = s.stride[axis_of(at)] * (from.dim[axis_of(at)] - 1);
  if (from.is_bounded(axis_of(at)) || !have_a_sum(s.offset, last)) return false;
  s.offset = s.offset + last;
  s.stride[axis_of(at)] = s.stride[axis_of(at)] * -1;
  return true;
}
}  // namespace detail

// Its axis.
inline constexpr op_info flip_info{.name = "flip",
                                   .kind = op_kind::whole,
                                   .arity = 1,
                                   .infer = detail::flip_infer,
                                   .vjp = detail::flip_vjp,
                                   .simplify = detail::flip_simplify,
                                   .restride = detail::flip_restride};

namespace rules {
struct flip {
  // Shares are ranges of rows of the axes behind the flipped one.
  template <class T>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    axis_lines const l = lines_along(out.dims, axis_of(at));
    std::int64_t const rows = l.outer * l.extent;
    for (std::int64_t r = rows * share / shares; r < rows * (share + 1) / shares; ++r) {
      T const* const from = in.data + l.at(r / l.extent, l.extent - 1 - r % l.extent, 0);
      for (std::int64_t j = 0; j < l.inner; ++j) out.data[r * l.inner + j] = from[j];
    }
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&flip_info> {
  using type = rules::flip;
};

constexpr var flip(var x, int axis) {
  axis = detail::named_axis(x.dims(), axis,
                            "flip: the tensor has no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1");
  return emit(flip_info, {x}, along(axis));
}

namespace detail {
constexpr void flip_vjp(vjp_context& c) { c.accumulate(0, flip(c.gradient, axis_of(c.at()))); }
constexpr int flip_simplify(simplify_context& c) {
  if (c.info.dims.dim[axis_of(c.at)] == 1) return c.in[0];
  return c.producer(0).op == &flip_info && c.producer(0).at == c.at ? c.g.input(c.in[0], 0) : -1;
}

template <int... Axes>
struct flip_fn {
  constexpr var operator()(var x) const {
    ((x = flip(x, Axes)), ...);
    return x;
  }
};
}  // namespace detail

template <int... Axes, handle X>
  requires(sizeof...(Axes) > 0)
constexpr auto flip(X const& x) {
  return lift<detail::flip_fn<Axes...>>(x);
}

}  // namespace tx
