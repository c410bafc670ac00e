// pad<Axis, Before, After>(x): zeros before and after x along an axis. [2, 3] -> [2, 1 + 3 + 2] for pad<1, 1, 2>.
// pad(x, axis, start, step, extent): zeros of a larger extent with x at start, start + step, ...; the gradient of slice. That one may be bounded.
// Errors: an axis there is not; a bounded axis, whose end is known at run time only.
#pragma once

#include <tx/ops/lines.hpp>
#include <tx/ops/packed_extent.hpp>

namespace tx {

namespace detail {
struct pad_facts {
  int axis = 0;
  std::int64_t start = 0, step = 1;  // of the tensor's elements among those of the result
  bounded extent{};
};
constexpr attributes attributes_of(pad_facts const& f) { return {{f.axis, f.start, f.step, packed_extent(f.extent)}}; }
constexpr pad_facts pad_facts_of(attributes const& at) { return {static_cast<int>(at.v[0]), at.v[1], at.v[2], unpacked_extent(at.v[3])}; }

constexpr value_info pad_infer(value_info const* in, int, attributes const& at) {
  value_info out = in[0];
  pad_facts const f = pad_facts_of(at);
  if (f.axis < 0 || f.axis >= out.dims.rank) throw invalid("pad: the tensor has no such axis. FIX: name one of its axes, from 0");
  if (f.start + (out.dims.dim[f.axis] - 1) * f.step >= f.extent.max) throw invalid("pad: the tensor does not fit the new extent. FIX: an extent above start + (the tensor's extent - 1) * step");
  if (out.dims.is_bounded(f.axis)) throw invalid("pad: a bounded extent cannot be padded. FIX: pad another axis");
  out.dims.set(f.axis, f.extent);
  return out;
}
constexpr void pad_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info pad_info{
    .name = "pad", .kind = op_kind::whole, .arity = 1, .infer = detail::pad_infer, .vjp = detail::pad_vjp};

constexpr var pad(var x, int axis, int start, int step, bounded extent) {
  return emit(pad_info, {x}, detail::attributes_of(detail::pad_facts{axis, start, step, extent}));
}

namespace rules {
struct pad {
  // Shares are ranges of the axes before the padded one.
  template <class T>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    std::int64_t outer = 1;
    std::int64_t inner = 1;
    int const axis = axis_of(at);
    std::int64_t const start = at.v[1], step = at.v[2];
    for (int i = 0; i < axis; ++i) outer *= out.dims.dim[i];
    for (int i = axis + 1; i < out.dims.rank; ++i) inner *= out.dims.dim[i];
    std::int64_t const from = in.dims.dim[axis];
    std::int64_t const to = out.dims.dim[axis];
    for (std::int64_t o = outer * share / shares; o < outer * (share + 1) / shares; ++o) {
      for (std::int64_t k = 0; k < to * inner; ++k) out.data[o * to * inner + k] = T{};
      for (std::int64_t k = 0; k < from; ++k)
        for (std::int64_t j = 0; j < inner; ++j)
          out.data[(o * to + start + k * step) * inner + j] = in.data[(o * from + k) * inner + j];
    }
  }
  template <class T>
  static TX_HD T element(std::uint32_t i, attributes const& at, whole_operand<T> const& out, whole_operand<T const> const& in) {
    std::uint32_t inner = 1;
    int const axis = axis_of(at);
    for (int k = axis + 1; k < out.dims.rank; ++k) inner *= static_cast<std::uint32_t>(out.dims.dim[k]);
    auto const start = static_cast<std::uint32_t>(at.v[1]), step = static_cast<std::uint32_t>(at.v[2]);
    auto const from = static_cast<std::uint32_t>(in.dims.dim[axis]), to = static_cast<std::uint32_t>(out.dims.dim[axis]);
    std::uint32_t const line = i / inner, o = line / to, k = line - o * to - start;  // k wraps round where the line is before the tensor
    std::uint32_t const row = step == 1 ? k : k / step;
    if (line - o * to < start || row * step != k || row >= from) return T{};
    return in.data[(std::int64_t{o} * from + row) * inner + (i - line * inner)];
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&pad_info> {
  using type = rules::pad;
};

namespace detail {
template <int Axis, int Before, int After>
struct pad_fn {
  static_assert(Before >= 0 && After >= 0, "tx::pad: fewer than no zeros. FIX: slice<Axis, Start, Count>(x) takes elements away");
  constexpr var operator()(var x) const {
    int const axis = named_axis(x.dims(), Axis, "pad: the tensor has no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1");
    if (x.dims().is_bounded(axis)) throw invalid("pad: the end of a bounded axis is known at run time only. FIX: use another axis");
    return pad(x, axis, Before, 1, Before + x.dims().dim[axis] + After);
  }
};
}  // namespace detail

template <int Axis, int Before, int After, handle X>
constexpr auto pad(X const& x) {
  return lift<detail::pad_fn<Axis, Before, After>>(x);
}

}  // namespace tx

namespace tx {
constexpr var slice(var x, int axis, int start, int count, int step);  // ops/slice.hpp
}

namespace tx::detail {
constexpr void pad_vjp(vjp_context& c) {
  pad_facts const f = pad_facts_of(c.at());
  c.accumulate(0, slice(c.gradient, f.axis, static_cast<int>(f.start), c.in_info(0).dims.dim[f.axis], static_cast<int>(f.step)));
}
}  // namespace tx::detail

#include <tx/ops/slice.hpp>
