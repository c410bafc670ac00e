// slice<axis, start, count, step>(x): every step-th element of an axis, from start. The gradient pads with zeros.
// Of a bounded axis, so many must be there: a run that has fewer is refused.
#pragma once

#include <tx/ops/pad.hpp>

namespace tx {

namespace detail {
constexpr value_info slice_infer(value_info const* in, int, attributes const& at) {
  value_info out = in[0];
  auto const [axis, start, count, step] = std::tuple{at.v[0], at.v[1], at.v[2], at.v[3]};
  if (axis < 0 || axis >= out.dims.rank) throw invalid("slice: the tensor has no such axis. FIX: name one of its axes, from 0, or from the end with a negative number");
  if (start < 0 || count < 0 || step < 1 || (count > 0 && start + (count - 1) * step >= out.dims.dim[axis]))
    throw invalid("slice: it reaches beyond the axis. FIX: keep start + (count - 1) * step below the extent");
  if (out.dims.is_bounded(static_cast<int>(axis)) && count == out.dims.dim[axis])
    throw invalid("slice: of a bounded axis as many elements are asked for as it has at the most. FIX: fewer, or no slice");
  out.dims.set(static_cast<int>(axis), static_cast<int>(count));
  return out;
}
constexpr void slice_vjp(vjp_context& c) {
  c.accumulate(0, pad(c.gradient, static_cast<int>(c.at().v[0]), static_cast<int>(c.at().v[1]), static_cast<int>(c.at().v[3]),
                      c.in_info(0).dims.at(static_cast<int>(c.at().v[0]))));
}
constexpr int slice_simplify(simplify_context& c) { return c.info.dims == c.input(0).dims() ? c.in[0] : -1; }
constexpr bool slice_restride(strided& s, shape const& from, shape const& to, attributes const& at) {
  (void)from;
  (void)to;
  quantity const first = s.stride[at.v[0]] * at.v[1];
  if (!have_a_sum(s.offset, first)) return false;
  s.offset = s.offset + first;
  s.stride[at.v[0]] = s.stride[at.v[0]] * at.v[3];
  return true;
}
// What is selected of a slice along its own axis is a sparser slice; along another axis the slice stays as it is.
constexpr bool slice_narrow(selection& s, shape const&, shape const&, attributes& at) {
  if (s && s.axis != at.v[0]) return true;
  if (s && (factors_of(s.count) || factors_of(s.step))) return false;
  std::int64_t const count = s ? most_of(s.count) : at.v[2];
  s = {static_cast<int>(at.v[0]), at.v[1] + (s ? s.start * at.v[3] : 0), exactly(count), (s ? s.step : exactly(1)) * at.v[3]};
  at = {{at.v[0], 0, count, 1}};
  return true;
}
}  // namespace detail

// at.v: axis, start, count, step.
inline constexpr op_info slice_info{.name = "slice",
                                    .kind = op_kind::view,
                                    .arity = 1,
                                    .infer = detail::slice_infer,
                                    .vjp = detail::slice_vjp,
                                    .simplify = detail::slice_simplify,
                                    .restride = detail::slice_restride,
                                    .narrow = detail::slice_narrow};

constexpr var slice(var x, int axis, int start, int count, int step) {
  if (axis < 0) axis += x.dims().rank;
  bool const bounds = axis >= 0 && axis < x.dims().rank && x.dims().is_bounded(axis);
  if (bounds && count > 0) x.g->bound_of.need(x.dims().at(axis), start + (count - 1) * step + 1);
  return emit(slice_info, {x}, attributes{{axis, start, count, step}});
}

namespace detail {
template <int Axis, int Start, int Count, int Step>
struct slice_fn {
  constexpr var operator()(var x) const { return slice(x, Axis, Start, Count, Step); }
};
}  // namespace detail

template <int Axis, int Start, int Count, int Step = 1, handle X>
constexpr auto slice(X const& x) {
  return lift<detail::slice_fn<Axis, Start, Count, Step>>(x);
}

}  // namespace tx
