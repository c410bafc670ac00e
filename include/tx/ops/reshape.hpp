// reshape<dims...>(x): the same elements in row-major order under other extents. [2, 6] -> [3, 4] for reshape<3, 4>. One extent may be -1.
#pragma once

#include <tx/ops/lift.hpp>
#include <tx/ops/packed_extent.hpp>

namespace tx {

namespace detail {
// The attributes of a reshape: one more than the extent of each axis, packed with its factors; 0 ends the list.
constexpr std::int64_t extent_and_one(attributes const& at, int axis) { return at.v[axis]; }
constexpr void set_extent_and_one(attributes& at, int axis, std::int64_t packed) { at.v[axis] = packed; }

constexpr value_info reshape_infer(value_info const* in, int, attributes const& at) {
  value_info out{in[0].type, {}};
  for (int i = 0; i < max_rank && extent_and_one(at, i) > 0; ++i) {
    std::int64_t const next = extent_and_one(at, i);
    if (next < quantity_end) {
      out.dims.dim[out.dims.rank++] = static_cast<int>(next - 1);
      continue;
    }
    bounded const extent = unpacked_extent(next);
    out.dims.add({extent.max - 1, extent.of});
  }
  if (out.count() != in[0].count())
    throw invalid("reshape: the new extents hold another number of elements. FIX: make the products equal");
  if ((out.dims.bounds != 0 || in[0].dims.bounds != 0) && !(out.dims.count_factors() == in[0].dims.count_factors()))
    throw invalid("reshape: a bounded extent is lost. FIX: keep it, as dyn<Max, Tag>, among the new extents");
  return out;
}

// Gives extents that are told as numbers alone the bounds of the axes they are made of. Of an axis that is split the first part is the bounded one.
//   from [B <= 8, 4, 6]:  [32, 6] becomes [4 B, 6],  [8, 2, 12] becomes [B, 2, 12],  [8, 24] becomes [B, 24]
constexpr shape with_bounds(shape const& from, shape to) {
  if (from.bounds == 0) return to;
  int i = 0, j = 0;
  while (i < from.rank || j < to.rank) {  // runs of axes of equal products
    while (i < from.rank && from.dim[i] == 1) ++i;
    while (j < to.rank && to.dim[j] == 1) ++j;
    if (i == from.rank || j == to.rank) return to;
    bounded have = from.at(i++);
    bounded const first = have;
    int const front = j++;
    std::int64_t want = to.dim[front];
    bool split = false;
    while (have.max != want) {
      if (have.max < want && i < from.rank) have = have * from.at(i++);
      else if (j < to.rank) split = split || to.dim[j] != 1, want *= to.dim[j++];
      else return to;  // the shape rule objects
    }
    if (!have.of) continue;
    if (split && (!(first.of == have.of) || to.dim[front] % first.max != 0))
      throw invalid("reshape: it is not told which of the new extents is the bounded one. FIX: name it, reshape<dyn<Max, Tag>, ...>, or keep it first");
    to.set(front, {to.dim[front], have.of});
  }
  return to;
}
constexpr void reshape_vjp(vjp_context& c);
constexpr int reshape_simplify(simplify_context& c);
constexpr bool reshape_restride(strided& s, shape const& from, shape const& to, attributes const& at) {
  // Neighbouring source axes that lie without gaps may be split and merged freely. Of a shape without elements any strides will do.
  (void)at;
  bool const bounds = from.bounds != 0 || to.bounds != 0;
  strided out{s.offset, {}};
  int i = 0;
  int j = 0;
  while (i < from.rank || j < to.rank) {
    bounded have = 1, want = 1;
    int const i0 = i;
    int const j0 = j;
    auto const more = [bounds](bounded& product, shape const& of, int axis) {
      if (bounds) product = product * of.at(axis);
      else product.max *= of.dim[axis];
    };
    if (i < from.rank) more(have, from, i++);
    if (j < to.rank) more(want, to, j++);
    while (have.max != want.max || have.of.bits != want.of.bits) {
      if (have.max < want.max || (have.max == want.max && i < from.rank)) {
        if (i >= from.rank) return to.count() == 0;
        more(have, from, i++);
      } else {
        if (j >= to.rank) return to.count() == 0;
        more(want, to, j++);
      }
    }
    bool found = false;  // stride of the run, and a check that it is one
    quantity inner{};
    for (int k = i - 1; k >= i0; --k) {
      if (from.dim[k] == 1) continue;
      if (found) {
        int next = k + 1;
        while (next < i && from.dim[next] == 1) ++next;
        if (s.stride[k] != (bounds ? s.stride[next] * from.at(next) : s.stride[next] * from.dim[next])) return to.count() == 0;
      } else {
        inner = s.stride[k];
        found = true;
      }
    }
    quantity step = inner;
    for (int k = j - 1; k >= j0; --k) {
      out.stride[k] = to.dim[k] == 1 ? quantity{} : step;
      step = bounds ? step * to.at(k) : step * to.dim[k];
    }
  }
  s = out;
  return true;
}
// An axis that both shapes have; an element of an axis that the other merges with the one before; the reverse of that.
// [b, s, h] -> [b s, h]: rows t, t + s, ... of the result are token t of each text.
constexpr bool reshape_narrow(selection& s, shape const& from, shape const& to, attributes& at) {
  if (!s) return true;
  bounded outer = 1;  // extents before the axis
  for (int i = 0; i < s.axis; ++i) outer = outer * to.at(i);
  bounded const extent = to.at(s.axis);
  quantity const count = s.count;
  int axis = 0;
  bounded before = 1;
  while (axis < from.rank && before.max * from.dim[axis] <= outer.max) before = before * from.at(axis++);
  if (axis == from.rank) return false;
  int const selected = s.axis;
  auto const of = [&](int a) { return proportional(from.dim[a], from.factors_at(a)); };
  if (before == outer && from.at(axis) == extent) {
    s.axis = axis;
  } else if (before == outer && of(axis) == count && axis + 1 < from.rank && from.at(axis) * from.at(axis + 1) == extent &&
             s.step == of(axis + 1) && s.start < most_of(s.step)) {
    s = {axis + 1, s.start, exactly(1), exactly(1)};
  } else if (count == exactly(1) && outer.max % before.max == 0 && outer.of.include(before.of) && before * from.at(axis) == outer * extent &&
             (!extent.of || from.rank < max_rank)) {
    s = {axis, s.start, proportional(outer.max / before.max, outer.of - before.of), proportional(extent.max, extent.of)};
  } else {
    return false;
  }
  set_extent_and_one(at, selected, static_cast<std::int64_t>(proportional(most_of(count) + 1, factors_of(count))));
  return true;
}
}  // namespace detail

inline constexpr op_info reshape_info{.name = "reshape",
                                      .kind = op_kind::view,
                                      .arity = 1,
                                      .infer = detail::reshape_infer,
                                      .vjp = detail::reshape_vjp,
                                      .simplify = detail::reshape_simplify,
                                      .restride = detail::reshape_restride,
                                      .narrow = detail::reshape_narrow};

// Extents that are given as numbers alone take bounds from those of x.
constexpr var reshape(var x, shape to) {
  if (to.bounds == 0) to = detail::with_bounds(x.dims(), to);
  if (x.dims() == to) return x;
  attributes at{};
  for (int i = 0; i < to.rank; ++i) detail::set_extent_and_one(at, i, to.bounds == 0 ? to.dim[i] + 1 : detail::packed_extent({to.dim[i] + 1, to.factors_at(i)}));
  return emit(reshape_info, {x}, at);
}

namespace detail {
constexpr void reshape_vjp(vjp_context& c) { c.accumulate(0, reshape(c.gradient, c.in_info(0).dims)); }

constexpr int reshape_simplify(simplify_context& c) {
  if (c.info.dims == c.input(0).dims()) return c.in[0];
  if (c.producer(0).op == &reshape_info) return reshape(var{&c.g, c.g.input(c.in[0], 0)}, c.info.dims).id;
  return -1;
}

template <auto... Dims>
struct reshape_fn {
  constexpr var operator()(var x) const {
    shape to = extents(bounded(Dims)...);
    int known = 1;
    for (int i = 0; i < to.rank; ++i) known *= to.dim[i] < 0 ? 1 : to.dim[i];
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

template <auto... Dims, handle X>
constexpr auto reshape(X const& x) {
  return lift<detail::reshape_fn<Dims...>>(x);
}

}  // namespace tx
