// argmax<Axis>(x), argmin<Axis>(x): where along an axis the largest and the smallest element is, as i32; the axis stays
// with extent 1. [2, 5, 3] -> [2, 1, 3] for Axis 1. Of equal elements it is the first. NaN counts as both larger and
// smaller than every number, so the first NaN of a line is its answer, as in numpy and PyTorch. No gradient passes.
// Errors: an empty axis.
#pragma once

#include <tx/ops/lines.hpp>

namespace tx {

namespace detail {
constexpr value_info argmax_infer(value_info const* in, int, attributes const& at) {
  value_info out{dtype::i32, in[0].dims};
  if (out.dims.dim[axis_of(at)] == 0)
    throw invalid("argmax, argmin: the axis is empty and has no largest element. FIX: give it elements");
  out.dims.set(axis_of(at), 1);
  return out;
}

// Does `a`, which comes later, stand before `b`? NaN before everything, nothing before NaN.
template <bool Least, class V>
TX_HD constexpr bool stands_before(V a, V b) {
  if constexpr (std::is_floating_point_v<V>)
    if (a != a || b != b) return b == b;
  return Least ? a < b : b < a;
}
}  // namespace detail

// Its axis.
inline constexpr op_info argmax_info{
    .name = "argmax", .kind = op_kind::whole, .arity = 1, .infer = detail::argmax_infer, .differentiable = false};
inline constexpr op_info argmin_info{
    .name = "argmin", .kind = op_kind::whole, .arity = 1, .infer = detail::argmax_infer, .differentiable = false};

namespace rules {
template <bool Least>
struct first_extreme {
  template <class I, class T>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<I> out, whole_operand<T const> in) {
    axis_lines const l = lines_along(in.dims, axis_of(at));
    for_lines(share, shares, l, [&](std::int64_t o, std::int64_t first, std::int64_t end) {
      for (std::int64_t j = first; j < end; ++j) {
        std::int64_t best = 0;
        for (std::int64_t k = 1; k < l.extent; ++k)
          if (detail::stands_before<Least>(number_of(in.data[l.at(o, k, j)]), number_of(in.data[l.at(o, best, j)])))
            best = k;
        out.data[o * l.inner + j] = static_cast<I>(best);
      }
    });
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&argmax_info> {
  using type = rules::first_extreme<false>;
};
template <>
struct partitioned_rule<&argmin_info> {
  using type = rules::first_extreme<true>;
};

namespace detail {
inline constexpr char const* no_argmax_axis =
    "argmax, argmin: the tensor has no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1";

template <op_info const* Op, int Axis>
struct argmax_fn {
  constexpr var operator()(var x) const {
    return emit(*Op, {x}, attributes{{named_axis(x.dims(), Axis, no_argmax_axis)}});
  }
};
}  // namespace detail

template <int Axis, handle X>
constexpr auto argmax(X const& x) {
  return lift<detail::argmax_fn<&argmax_info, Axis>>(x);
}
template <int Axis, handle X>
constexpr auto argmin(X const& x) {
  return lift<detail::argmax_fn<&argmin_info, Axis>>(x);
}

}  // namespace tx
