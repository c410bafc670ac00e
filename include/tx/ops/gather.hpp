// gather<Axis>(x, ids): along an axis the elements that ids names, each line with ids of its own (numpy's
// take_along_axis): y[i, j, k] = x[i, ids[i, j, k], k] for Axis 1. x [A, E, B], ids [A, L, B] -> [A, L, B].
// take(x, ids) takes whole rows. Gradients are added in the order of the ids, whatever the number of threads.
// Errors: an argument with an id outside [0, E) is refused before the step runs; one that the program computes takes 0.
// A bounded axis, as it has no fixed range of ids.
#pragma once

#include <tx/ops/in_range.hpp>
#include <tx/ops/lines.hpp>

namespace tx {

namespace detail {
constexpr void check_ids(value_info const& x, value_info const& ids, std::int64_t axis, char const* other_shape) {
  if (!is_integer(ids.type))
    throw invalid("gather, scatter_add: ids must be an integer tensor. FIX: tensor<tx::i32, ...>");
  if (x.dims.is_bounded(static_cast<int>(axis)) || ids.dims.is_bounded(static_cast<int>(axis)))
    throw invalid("gather, scatter_add: a bounded axis has no fixed range of ids. FIX: use another axis");
  if (!same_but_for(x.dims, ids.dims, axis)) throw invalid(other_shape);
}
constexpr value_info gather_infer(value_info const* in, int, attributes const& at) {
  check_ids(in[0], in[1], axis_of(at),
            "gather: the tensor and its ids differ beside the axis. FIX: broadcast_to equal extents, or take(x, ids) for rows");
  return {in[0].type, in[1].dims};
}
constexpr value_info scatter_along_infer(value_info const* in, int, attributes const& at) {
  value_info out = in[0];
  out.dims.dim[axis_of(at)] = static_cast<int>(number_along(at));
  return out;
}
constexpr void gather_vjp(vjp_context& c);
constexpr void scatter_along_vjp(vjp_context& c);
}  // namespace detail

// Its axis.
inline constexpr op_info gather_info{
    .name = "gather", .kind = op_kind::whole, .arity = 2, .infer = detail::gather_infer, .vjp = detail::gather_vjp};
// scatter_along(values [A, L, B], ids [A, L, B]) -> [A, E, B], the transposed look-up: sums of the values for one place.
// at.v: axis, E.
inline constexpr op_info scatter_along_info{.name = "scatter_along",
                                            .kind = op_kind::whole,
                                            .arity = 2,
                                            .infer = detail::scatter_along_infer,
                                            .vjp = detail::scatter_along_vjp};

namespace rules {
struct gather {
  // Shares are ranges of rows of the axes behind the one looked up.
  template <class T, class Id>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<T> out, whole_operand<T const> x,
                        whole_operand<Id const> ids) {
    axis_lines const from = lines_along(x.dims, axis_of(at));
    axis_lines const to = lines_along(out.dims, axis_of(at));
    std::int64_t const rows = to.outer * to.extent;
    for (std::int64_t r = rows * share / shares; r < rows * (share + 1) / shares; ++r)
      for (std::int64_t j = 0; j < to.inner; ++j) {
        auto const id = static_cast<std::int64_t>(ids.data[r * to.inner + j]);
        bool const inside = id >= 0 && id < from.extent;  // ids that a program computes are not checked before it runs
        out.data[r * to.inner + j] = inside ? x.data[from.at(r / to.extent, id, j)] : T{};
      }
  }
};

struct scatter_along {
  // A share owns lines, or places of all lines where there are few: values are added in the order of the ids in both.
  template <class T, class Id>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<T> out, whole_operand<T const> values,
                        whole_operand<Id const> ids) {
    axis_lines const from = lines_along(values.dims, axis_of(at));
    axis_lines const to = lines_along(out.dims, axis_of(at));
    bool const by_line = to.outer * to.inner >= shares;
    std::int64_t const lo = by_line ? 0 : to.extent * share / shares;
    std::int64_t const hi = by_line ? to.extent : to.extent * (share + 1) / shares;
    for_lines(by_line ? share : 0, by_line ? shares : 1, to, [&](std::int64_t o, std::int64_t first, std::int64_t end) {
      for (std::int64_t k = lo; k < hi; ++k)
        for (std::int64_t j = first; j < end; ++j) out.data[to.at(o, k, j)] = T(0);
      for (std::int64_t k = 0; k < from.extent; ++k)
        for (std::int64_t j = first; j < end; ++j) {
          auto const id = static_cast<std::int64_t>(ids.data[from.at(o, k, j)]);
          if (id < lo || id >= hi) continue;
          T& sum = out.data[to.at(o, id, j)];
          sum = static_cast<T>(sum + values.data[from.at(o, k, j)]);
        }
    });
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&gather_info> {
  using type = rules::gather;
};
template <>
struct partitioned_rule<&scatter_along_info> {
  using type = rules::scatter_along;
};

constexpr var gather(var x, var ids, int axis) {
  axis = detail::named_axis(x.dims(), axis,
                            "gather: the tensor has no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1");
  return emit(gather_info, {x, in_range(ids, 0, x.dims().dim[axis])}, along(axis));
}

namespace detail {
template <int Axis>
struct gather_fn {
  constexpr var operator()(var x, var ids) const { return gather(x, ids, Axis); }
};
}  // namespace detail

template <int Axis, handle X, handle Ids>
constexpr auto gather(X const& x, Ids const& ids) {
  return lift<detail::gather_fn<Axis>>(x, ids);
}

}  // namespace tx

#include <tx/ops/cast.hpp>

namespace tx::detail {
constexpr void gather_vjp(vjp_context& c) {
  attributes const at = along(axis_of(c.at()), c.in_info(0).dims.dim[axis_of(c.at())]);
  c.accumulate(0, emit(scatter_along_info, {cast(c.gradient, sum_type(c.gradient.type())), c.in(1)}, at));
}
constexpr void scatter_along_vjp(vjp_context& c) {
  attributes const at = along(axis_of(c.at()));
  c.accumulate(0, emit(gather_info, {c.gradient, c.in(1)}, at));
}
}  // namespace tx::detail
