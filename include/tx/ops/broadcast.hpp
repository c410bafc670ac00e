// broadcast_to<dims...>(x): repeats axes of extent 1, and adds leading axes, as numpy does. [5, 1] -> [2, 5, 3] for broadcast_to<2, 5, 3>.
#pragma once

#include <tx/ops/reshape.hpp>

namespace tx {

namespace detail {
// The attributes of a broadcast: the extent of each axis, packed with its factors; the input has the same rank.
constexpr std::int64_t broadcast_extent(attributes const& at, int axis) { return at.v[axis]; }
constexpr void set_broadcast_extent(attributes& at, int axis, std::int64_t packed) { at.v[axis] = packed; }

constexpr value_info broadcast_infer(value_info const* in, int, attributes const& at) {
  value_info out = in[0];
  for (int i = 0; i < in[0].dims.rank; ++i) {
    std::int64_t const asked = broadcast_extent(at, i);
    if (asked < quantity_end && in[0].dims.bounds == 0 && (in[0].dims.dim[i] == asked || in[0].dims.dim[i] == 1)) {
      out.dims.dim[i] = static_cast<int>(asked);
      continue;
    }
    bounded const to = unpacked_extent(asked);
    if (in[0].dims.is_bounded(i) && !(in[0].dims.factors_at(i) == to.of))
      throw invalid("broadcast_to: a bounded extent meets a fixed one. FIX: name it, broadcast_to<dyn<Max, Tag>, ...>");
    if (!(in[0].dims.at(i) == to) && in[0].dims.dim[i] != 1)
      throw invalid("broadcast_to: an extent is neither 1 nor the one asked for. FIX: reshape so that extents match from the right");
    out.dims.set(i, to);
  }
  return out;
}
constexpr void broadcast_vjp(vjp_context& c);
constexpr int broadcast_simplify(simplify_context& c);
constexpr bool broadcast_restride(strided& s, shape const& from, shape const& to, attributes const& at) {
  (void)at;
  for (int i = 0; i < to.rank; ++i)
    if (from.dim[i] != to.dim[i]) s.stride[i] = {};
  return true;
}
// Of a repeated axis fewer repetitions are made, from all there is.
constexpr bool broadcast_narrow(selection& s, shape const& from, shape const&, attributes& at) {
  if (!s) return true;
  set_broadcast_extent(at, s.axis, static_cast<std::int64_t>(s.count));
  if (from.dim[s.axis] == 1) s = {};
  return true;
}
}  // namespace detail

inline constexpr op_info broadcast_info{.name = "broadcast",
                                        .kind = op_kind::view,
                                        .arity = 1,
                                        .infer = detail::broadcast_infer,
                                        .vjp = detail::broadcast_vjp,
                                        .simplify = detail::broadcast_simplify,
                                        .restride = detail::broadcast_restride,
                                        .narrow = detail::broadcast_narrow};

constexpr var broadcast_to(var x, shape to) {
  if (x.dims() == to) return x;
  if (x.dims().rank > to.rank) throw invalid("broadcast_to: the tensor has more axes than asked for. FIX: reshape it first");
  shape padded = to;
  int const lead = to.rank - x.dims().rank;
  bool const fixed = to.bounds == 0 && x.dims().bounds == 0;
  for (int i = 0; i < to.rank; ++i) {
    if (fixed) padded.dim[i] = i < lead ? 1 : x.dims().dim[i - lead];
    else padded.set(i, i < lead ? bounded(1) : x.dims().at(i - lead));
  }
  var const aligned = reshape(x, padded);
  if (aligned.dims() == to) return aligned;
  attributes at{};
  for (int i = 0; i < to.rank; ++i) detail::set_broadcast_extent(at, i, fixed ? to.dim[i] : detail::packed_extent(to.at(i)));
  return emit(broadcast_info, {aligned}, at);
}

constexpr bool extents_meet(shape const& a, shape const& b) {
  for (int i = 1; i <= a.rank && i <= b.rank; ++i)
    if (int const da = a.dim[a.rank - i], db = b.dim[b.rank - i]; da != db && da != 1 && db != 1) return false;
  return true;
}
// The shape two operands meet in.
constexpr shape common_shape(shape const& a, shape const& b) {
  if (!extents_meet(a, b)) throw invalid("shapes do not broadcast: aligned at the right, extents must be equal or 1. FIX: reshape or transpose an operand");
  shape out = a.rank >= b.rank ? a : b;
  for (int i = 1; i <= out.rank; ++i) {
    int const da = i <= a.rank ? a.dim[a.rank - i] : 1;
    int const db = i <= b.rank ? b.dim[b.rank - i] : 1;
    if (a.bounds == 0 && b.bounds == 0) {
      out.dim[out.rank - i] = da == 1 ? db : da;  // an axis without elements has none beside 1 either
      continue;
    }
    factors const of_a = i <= a.rank ? a.factors_at(a.rank - i) : factors{}, of_b = i <= b.rank ? b.factors_at(b.rank - i) : factors{};
    if (!(of_a == of_b) && da != 1 && db != 1)
      throw invalid("a bounded extent meets another extent. FIX: give both the same dyn<Max, Tag>");
    out.set(out.rank - i, da == 1 ? bounded(db, of_b) : bounded(da, of_a));
  }
  return out;
}

namespace detail {
template <auto... Dims>
struct broadcast_fn {
  constexpr var operator()(var x) const { return broadcast_to(x, make_shape<Dims...>()); }
};
}  // namespace detail

template <auto... Dims, handle X>
constexpr auto broadcast_to(X const& x) {
  return lift<detail::broadcast_fn<Dims...>>(x);
}

}  // namespace tx

#include <tx/ops/sum.hpp>  // the gradient sums over repeated axes, and the sum's repeats

namespace tx {
constexpr var sum(var x, int const* axes, int count);  // not known yet where its header led here
}
namespace tx::detail {
constexpr void broadcast_vjp(vjp_context& c) {
  shape const from = c.in_info(0).dims;
  shape const to = c.self().info.dims;
  int axes[max_rank] = {};
  int n = 0;
  for (int i = 0; i < from.rank; ++i)
    if (!(from.at(i) == to.at(i))) axes[n++] = i;
  c.accumulate(0, reshape(sum(c.gradient, axes, n), from));
}

constexpr int broadcast_simplify(simplify_context& c) {
  if (c.info.dims == c.input(0).dims()) return c.in[0];
  if (c.producer(0).op == &broadcast_info)
    return c.g.emit(&broadcast_info, c.g.operands.data() + c.producer(0).first, 1, c.at, c.info);
  return -1;
}
}  // namespace tx::detail
