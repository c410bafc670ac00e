// reshape<dims...>(x): the same elements in row-major order under other extents. One extent may be -1.
#pragma once

#include <tx/ops/lift.hpp>

namespace tx {

namespace detail {
constexpr value_info reshape_infer(value_info const* in, int, attributes const& at) {
  value_info out{in[0].type, {}};
  for (int i = 0; i < max_rank && at.v[i] > 0; ++i) out.dims.dim[out.dims.rank++] = static_cast<int>(at.v[i] - 1);
  if (out.count() != in[0].count())
    throw invalid("reshape: the new extents hold another number of elements. FIX: make the products equal");
  if (in[0].dims.tag) {
    // A bounded extent stays leading and stays the factor that varies.
    if (out.dims.rank == 0 || out.dims.dim[0] % in[0].dims.tag.max != 0)
      throw invalid("reshape: a bounded leading extent must stay the leading factor. FIX: keep it first");
    out.dims.tag = in[0].dims.tag;
  }
  return out;
}
constexpr void reshape_vjp(vjp_context& c);
constexpr int reshape_simplify(simplify_context& c);
constexpr bool reshape_restride(strided& s, shape const& from, shape const& to, attributes const& at) {
  // Runs of source axes that are contiguous in memory may be split and merged freely; no element is anywhere.
  (void)at;
  strided out{s.offset, {}};
  int i = 0;
  int j = 0;
  while (i < from.rank || j < to.rank) {
    std::int64_t have = i < from.rank ? from.dim[i] : 1;
    std::int64_t want = j < to.rank ? to.dim[j] : 1;
    int const i0 = i;
    int const j0 = j;
    i += i < from.rank;
    j += j < to.rank;
    while (have != want) {
      if (have < want) {
        if (i >= from.rank) return to.count() == 0;
        have *= from.dim[i++];
      } else {
        if (j >= to.rank) return to.count() == 0;
        want *= to.dim[j++];
      }
    }
    bool found = false;  // stride of the run, and a check that it is one
    std::int64_t inner = 0;
    for (int k = i - 1; k >= i0; --k) {
      if (from.dim[k] == 1) continue;
      if (found) {
        std::int64_t run = s.stride[k + 1];
        int next = k + 1;
        while (next < i && from.dim[next] == 1) ++next;
        run = s.stride[next] * from.dim[next];
        if (s.stride[k] != run) return to.count() == 0;
      } else {
        inner = s.stride[k];
        found = true;
      }
    }
    std::int64_t step = inner;
    for (int k = j - 1; k >= j0; --k) {
      out.stride[k] = to.dim[k] == 1 ? 0 : step;
      step *= to.dim[k];
    }
  }
  s = out;
  return true;
}
// An axis that both shapes have; an element of an axis that the other merges with the one before; the reverse of that.
// [b, s, h] -> [b s, h]: rows t, t + s, ... of the result are token t of each text.
constexpr bool reshape_narrow(selection& s, shape const& from, shape const& to, attributes& at) {
  if (!s) return true;
  std::int64_t outer = 1;  // extents before the axis
  for (int i = 0; i < s.axis; ++i) outer *= to.dim[i];
  std::int64_t const extent = to.dim[s.axis];
  std::int64_t const count = s.count;
  int axis = 0;
  std::int64_t before = 1;
  while (axis < from.rank && before * from.dim[axis] <= outer) before *= from.dim[axis++];
  if (axis == from.rank) return false;
  int const selected = s.axis;
  if (before == outer && from.dim[axis] == extent) {
    s.axis = axis;
  } else if (before == outer && from.dim[axis] == count && axis + 1 < from.rank && count * from.dim[axis + 1] == extent &&
             s.step == from.dim[axis + 1] && s.start < s.step) {
    s = {axis + 1, s.start, 1, 1};
  } else if (count == 1 && outer % before == 0 && before * from.dim[axis] == outer * extent) {
    s = {axis, s.start, outer / before, extent};
  } else {
    return false;
  }
  if (s.axis == 0 && from.tag) return false;  // a bounded axis has no fixed selection
  at.v[selected] = count + 1;
  return true;
}
}  // namespace detail

// at.v[i]: extent of axis i plus one; 0 ends the list.
inline constexpr op_info reshape_info{.name = "reshape",
                                      .kind = op_kind::view,
                                      .arity = 1,
                                      .infer = detail::reshape_infer,
                                      .vjp = detail::reshape_vjp,
                                      .simplify = detail::reshape_simplify,
                                      .restride = detail::reshape_restride,
                                      .narrow = detail::reshape_narrow};

constexpr var reshape(var x, shape to) {
  bool same = x.dims().rank == to.rank;
  for (int i = 0; i < to.rank; ++i) same = same && x.dims().dim[i] == to.dim[i];
  if (same) return x;
  attributes at{};
  for (int i = 0; i < to.rank; ++i) at.v[i] = to.dim[i] + 1;
  return emit(reshape_info, {x}, at);
}

namespace detail {
constexpr void reshape_vjp(vjp_context& c) { c.accumulate(0, reshape(c.gradient, c.in_info(0).dims)); }

constexpr int reshape_simplify(simplify_context& c) {
  if (c.info.dims == c.input(0).dims()) return c.in[0];
  if (c.producer(0).op == &reshape_info) return reshape(var{&c.g, c.g.input(c.in[0], 0)}, c.info.dims).id;
  return -1;
}

template <int... Dims>
struct reshape_fn {
  constexpr var operator()(var x) const {
    shape to{};
    int known = 1;
    ((to.dim[to.rank++] = Dims, known *= Dims < 0 ? 1 : Dims), ...);
    for (int& d : to.dim) {
      if (d >= 0) continue;
      if (known == 0 || x.info().count() % known != 0)
        throw invalid("reshape: the extent asked for with -1 would not be whole. FIX: give extents that divide the element count");
      d = static_cast<int>(x.info().count() / known);
    }
    return reshape(x, to);
  }
};
}  // namespace detail

template <int... Dims, handle X>
constexpr auto reshape(X const& x) {
  return lift<detail::reshape_fn<Dims...>>(x);
}

}  // namespace tx
