// slice_at<Axis, Count>(x, start): Count neighbouring elements of an axis, from one that is known when the program runs. start: an integer
// without extents. x [A, E, B] -> [A, Count, B] for Axis 1. Where the start is known while compiling, slice<...>(x) moves nothing.
// Errors: an argument with a start outside [0, E - Count] is refused before the step runs; of one that the program computes, elements
// that x lacks are 0. An axis there is not, more elements than it has, a bounded axis.
#pragma once

#include <tx/ops/in_range.hpp>
#include <tx/ops/lines.hpp>

namespace tx {

namespace detail {
constexpr void check_start(shape const& whole, shape const& part, value_info const& start, std::int64_t axis) {
  if (whole.is_bounded(static_cast<int>(axis)) || part.is_bounded(static_cast<int>(axis))) throw invalid("slice_at, update_at: a bounded axis has no fixed starts. FIX: another axis");
  if (part.dim[axis] > whole.dim[axis]) throw invalid("slice_at, update_at: there are more elements than the axis has. FIX: at most its extent");
  if (start.dims.rank != 0 || !is_integer(start.type)) throw invalid("slice_at, update_at: the start is one integer. FIX: a tensor<tx::i32> without extents");
}
constexpr value_info slice_at_infer(value_info const* in, int, attributes const& at) {
  value_info out = in[0];
  out.dims.dim[axis_of(at)] = static_cast<int>(number_along(at));
  check_start(in[0].dims, out.dims, in[1], axis_of(at));
  return out;
}
constexpr value_info update_at_infer(value_info const* in, int, attributes const& at) {
  if (in[0].type != in[1].type) throw invalid("update_at: element types differ. FIX: convert one side with cast<T>(x)");
  if (!same_but_for(in[0].dims, in[1].dims, axis_of(at))) throw invalid("update_at: the tensor and what is put into it differ beside the axis. FIX: reshape or broadcast_to the other extents");
  check_start(in[0].dims, in[1].dims, in[2], axis_of(at));
  return in[0];
}
constexpr void slice_at_vjp(vjp_context& c);
constexpr void update_at_vjp(vjp_context& c);
}  // namespace detail

// at.v: axis, count.
inline constexpr op_info slice_at_info{.name = "slice_at", .kind = op_kind::whole, .arity = 2, .infer = detail::slice_at_infer, .vjp = detail::slice_at_vjp};
// Its partner, see update_at.hpp. axis_of(at): axis.
inline constexpr op_info update_at_info{
    .name = "update_at", .kind = op_kind::whole, .arity = 3, .infer = detail::update_at_infer, .vjp = detail::update_at_vjp, .over_first = true};

namespace rules {
struct slice_at {
  template <class T, class Id>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<T> out, whole_operand<T const> x, whole_operand<Id const> start) {
    axis_lines const from = lines_along(x.dims, axis_of(at));
    axis_lines const to = lines_along(out.dims, axis_of(at));
    auto const first_place = static_cast<std::int64_t>(start.data[0]);
    for_lines(share, shares, to, [&](std::int64_t o, std::int64_t first, std::int64_t end) {
      for (std::int64_t k = 0; k < to.extent; ++k) {
        std::int64_t const place = first_place + k;
        bool const there = place >= 0 && place < from.extent;
        for (std::int64_t j = first; j < end; ++j) out.data[to.at(o, k, j)] = there ? x.data[from.at(o, place, j)] : T{};
      }
    });
  }
};

// Where the result lies over x, as a state's next value does, only what is new is written.
struct update_at {
  template <class T, class Id>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<T> out, whole_operand<T const> x, whole_operand<T const> values,
                        whole_operand<Id const> start) {
    axis_lines const to = lines_along(out.dims, axis_of(at));
    axis_lines const from = lines_along(values.dims, axis_of(at));
    auto const first_place = static_cast<std::int64_t>(start.data[0]);
    for_lines(share, shares, to, [&](std::int64_t o, std::int64_t first, std::int64_t end) {
      for (std::int64_t k = 0; out.data != x.data && k < to.extent; ++k)
        for (std::int64_t j = first; j < end; ++j) out.data[to.at(o, k, j)] = x.data[to.at(o, k, j)];
      for (std::int64_t k = 0; k < from.extent; ++k) {
        std::int64_t const place = first_place + k;
        if (place < 0 || place >= to.extent) continue;
        for (std::int64_t j = first; j < end; ++j) out.data[to.at(o, place, j)] = values.data[from.at(o, k, j)];
      }
    });
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&slice_at_info> {
  using type = rules::slice_at;
};
template <>
struct partitioned_rule<&update_at_info> {
  using type = rules::update_at;
};

namespace detail {
constexpr var checked_start(shape const& whole, std::int64_t count, var start, int axis) {
  if (!is_integer(start.type())) throw invalid("slice_at, update_at: the start is one integer. FIX: a tensor<tx::i32> without extents");
  std::int64_t const starts = whole.dim[axis] - count + 1;
  return start_in(start, starts > 0 ? starts : 1);  // else the shape rule says that there are too many
}
}  // namespace detail

constexpr var slice_at(var x, var start, int axis, int count) {
  axis = detail::named_axis(x.dims(), axis, "slice_at: the tensor has no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1");
  return emit(slice_at_info, {x, detail::checked_start(x.dims(), count, start, axis)}, along(axis, count));
}

namespace detail {
template <int Axis, int Count>
struct slice_at_fn {
  static_assert(Count >= 0, "tx::slice_at: the number of elements is negative. FIX: slice_at<Axis, Count> with Count of at least 0");
  constexpr var operator()(var x, var start) const { return slice_at(x, start, Axis, Count); }
};
}  // namespace detail

template <int Axis, int Count, handle X, handle Start>
constexpr auto slice_at(X const& x, Start const& start) {
  return lift<detail::slice_at_fn<Axis, Count>>(x, start);
}

}  // namespace tx

#include <tx/ops/broadcast.hpp>

namespace tx::detail {
constexpr void slice_at_vjp(vjp_context& c) {
  var const zeros = broadcast_to(constant(*c.g, c.gradient.type(), 0), c.in_info(0).dims);
  c.accumulate(0, emit(update_at_info, {zeros, c.gradient, c.in(1)}, along(axis_of(c.at()))));
}
constexpr void update_at_vjp(vjp_context& c) {
  std::int64_t const axis = axis_of(c.at());
  shape const part = c.in_info(1).dims;
  if (c.needs(0)) c.accumulate(0, emit(update_at_info, {c.gradient, broadcast_to(constant(*c.g, c.gradient.type(), 0), part), c.in(2)}, along(axis)));
  if (c.needs(1)) c.accumulate(1, emit(slice_at_info, {c.gradient, c.in(2)}, along(axis, part.dim[axis])));
}
}  // namespace tx::detail
