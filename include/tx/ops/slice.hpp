// slice<axis, start, count, step>(x): every step-th element of an axis, from start. [2, 9] -> [2, 4] for slice<1, 0, 4, 2>. The gradient pads with zeros.
// Of a bounded axis, so many must be there: a run that has fewer is refused.
#pragma once

#include <tx/ops/pad.hpp>

namespace tx {

namespace detail {
struct slice_facts {
  int axis = 0;
  std::int64_t start = 0, count = 0, step = 1;
};
constexpr attributes attributes_of(slice_facts const& f) { return {{f.axis, f.start, f.count, f.step}}; }
constexpr slice_facts slice_facts_of(attributes const& at) { return {static_cast<int>(at.v[0]), at.v[1], at.v[2], at.v[3]}; }

constexpr value_info slice_infer(value_info const* in, int, attributes const& at) {
  value_info out = in[0];
  auto const [axis, start, count, step] = slice_facts_of(at);
  if (axis < 0 || axis >= out.dims.rank) throw invalid("slice: the tensor has no such axis. FIX: name one of its axes, from 0, or from the end with a negative number");
  if (start < 0 || count < 0 || step < 1 || (count > 0 && start + (count - 1) * step >= out.dims.dim[axis]))
    throw invalid("slice: it reaches beyond the axis. FIX: keep start + (count - 1) * step below the extent");
  if (out.dims.is_bounded(axis) && count == out.dims.dim[axis])
    throw invalid("slice: of a bounded axis as many elements are asked for as it has at the most. FIX: fewer, or no slice");
  out.dims.set(axis, static_cast<int>(count));
  return out;
}
constexpr void slice_vjp(vjp_context& c) {
  slice_facts const f = slice_facts_of(c.at());
  c.accumulate(0, pad(c.gradient, f.axis, static_cast<int>(f.start), static_cast<int>(f.step), c.in_info(0).dims.at(f.axis)));
}
constexpr int slice_simplify(simplify_context& c) { return c.info.dims == c.input(0).dims() ? c.in[0] : -1; }
constexpr bool slice_restride(strided& s, shape const& from, shape const& to, attributes const& at) {
  (void)from;
  (void)to;
  slice_facts const f = slice_facts_of(at);
  quantity const first = s.stride[f.axis] * f.start;
  if (!have_a_sum(s.offset, first)) return false;
  s.offset = s.offset + first;
  s.stride[f.axis] = s.stride[f.axis] * f.step;
  return true;
}
// What is selected of a slice along its own axis is a sparser slice; along another axis the slice stays as it is.
constexpr bool slice_narrow(selection& s, shape const&, shape const&, attributes& at) {
  slice_facts const f = slice_facts_of(at);
  if (s && s.axis != f.axis) return true;
  if (s && (factors_of(s.count) || factors_of(s.step))) return false;
  std::int64_t const count = s ? most_of(s.count) : f.count;
  s = {f.axis, f.start + (s ? s.start * f.step : 0), exactly(count), (s ? s.step : exactly(1)) * f.step};
  at = attributes_of(slice_facts{f.axis, 0, count, 1});
  return true;
}
}  // namespace detail

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
  return emit(slice_info, {x}, detail::attributes_of(detail::slice_facts{axis, start, count, step}));
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
