// sum<axes...>(x): adds over axes and keeps them with extent 1; without axes over all, giving a scalar. [2, 5, 3] -> [2, 1, 3] for sum<1>.
// Errors: bool; an axis there is not.
#pragma once

#include <tx/ops/transpose.hpp>

namespace tx {

namespace detail {
constexpr value_info row_reduce_infer(value_info const* in, int, attributes const&) {
  value_info out = in[0];
  if (out.dims.rank <= 0) throw invalid("a reduction over the last axis needs a last axis. FIX: reshape it to [1] before, or leave the reduction out");
  if (out.dims.rank == 1 && out.dims.bounds != 0) throw invalid("a reduction over a bounded vector is not a row reduction, as its elements are rows. FIX: reshape it to [1, n] before");
  out.dims.set_last(1);
  return out;
}
constexpr value_info col_reduce_infer(value_info const* in, int, attributes const&) {
  return {in[0].type, extents(in[0].dims.at(-1))};
}
constexpr void row_sum_vjp(vjp_context& c);
constexpr void col_sum_vjp(vjp_context& c);

template <class Rule>
constexpr double combined(double a, double b) {
  return Rule::apply(a, b);
}

// Axes of extent 1 reduce nothing; `nothing` is what no elements reduce to.
constexpr int reduction_simplify(simplify_context& c, double nothing);
constexpr int row_sum_simplify(simplify_context& c);
constexpr int sum_simplify(simplify_context& c) { return reduction_simplify(c, 0); }
}  // namespace detail

namespace rules {
struct sum {
  template <class V>
  static TX_HD constexpr V apply(V a, V b) {
    return a + b;
  }
  template <class T>
  static TX_HD constexpr T identity() {
    return T(0);
  }
};
}  // namespace rules

// [..., C] -> [..., 1]
inline constexpr op_info row_sum_info{.name = "row_sum",
                                      .kind = op_kind::row_reduce,
                                      .arity = 1,
                                      .infer = detail::row_reduce_infer,
                                      .vjp = detail::row_sum_vjp,
                                      .simplify = detail::row_sum_simplify,
                                      .combine = detail::combined<rules::sum>};
// [..., C] -> [C]
inline constexpr op_info col_sum_info{.name = "col_sum",
                                      .kind = op_kind::col_reduce,
                                      .arity = 1,
                                      .infer = detail::col_reduce_infer,
                                      .vjp = detail::col_sum_vjp,
                                      .simplify = detail::sum_simplify,
                                      .combine = detail::combined<rules::sum>};
template <>
struct scalar_rule<&row_sum_info> {
  using type = rules::sum;
};
template <>
struct scalar_rule<&col_sum_info> {
  using type = rules::sum;
};

namespace detail {

// Moves the reduced axes to the end, merges them, and reduces rows; leading axes alone reduce columns.
// rows/cols: the two reductions. Returns the shape with the reduced axes kept as 1.
constexpr var reduce_axes(var x, int const* axes, int count, op_info const& rows, op_info const* cols) {
  shape const from = x.dims();
  bool reduced[max_rank] = {};
  for (int i = 0; i < count; ++i) {
    int const axis = axes[i] < 0 ? axes[i] + from.rank : axes[i];
    if (axis < 0 || axis >= from.rank) throw invalid("reduction: the tensor has no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1");
    reduced[axis] = true;
  }
  shape kept = from;
  bounded outside = 1;
  bounded inside = 1;
  int last_reduced = -1;
  int first_kept = from.rank;
  int last_kept = -1;
  int first_reduced = from.rank;
  for (int i = 0; i < from.rank; ++i) {
    if (reduced[i]) {
      kept.set(i, 1);
      inside = inside * from.at(i);
      if (from.dim[i] != 1) last_reduced = i;
      if (from.dim[i] != 1 && i < first_reduced) first_reduced = i;
    } else {
      outside = outside * from.at(i);
      if (from.dim[i] != 1) last_kept = i;
      if (from.dim[i] != 1 && i < first_kept) first_kept = i;
    }
  }
  if (inside.max == 1) return reshape(x, kept);
  if (cols != nullptr && last_reduced < first_kept) {  // leading axes only: [I, O] -> [O]
    if (outside.max == 1) {                            // everything: rows first, then their column
      bounded width = from.at(-1), height = 1;
      for (int i = 0; i + 1 < from.rank; ++i) height = height * from.at(i);
      if (from.rank == 1 && width.of) height = width, width = 1;  // elements of a bounded vector are rows
      if (width.max == 0) height = 1;
      var const flat = reshape(x, extents(height, width));
      var const per_row = emit(rows, {flat});
      return reshape(emit(*cols, {per_row}), kept);
    }
    var const flat = reshape(x, extents(inside, outside));
    return reshape(emit(*cols, {flat}), kept);
  }
  if (last_kept > first_reduced) {  // bring the reduced axes to the end
    attributes order{};
    int n = 0;
    for (int i = 0; i < from.rank; ++i)
      if (!reduced[i]) set_source_axis(order, n++, i);
    for (int i = 0; i < from.rank; ++i)
      if (reduced[i]) set_source_axis(order, n++, i);
    x = transpose(x, order);
  }
  shape rowwise{};  // kept axes, then one that holds all reduced ones
  for (int i = 0; i < from.rank; ++i)
    if (!reduced[i]) rowwise.add(from.at(i));
  if (rowwise.rank == 0 && inside.of) rowwise.add(1);  // [1, n]
  rowwise.add(inside);
  return reshape(emit(rows, {reshape(x, rowwise)}), kept);
}

}  // namespace detail

constexpr var sum(var x, int const* axes, int count) {
  if (x.type() == dtype::boolean) throw invalid("sum, mean: elements are bool. FIX: cast<tx::i32>(x) first");
  return detail::reduce_axes(x, axes, count, row_sum_info, &col_sum_info);
}

// Everything: a scalar.
constexpr var sum_all(var x) {
  int const axes[max_rank] = {0, 1, 2, 3, 4, 5};
  return reshape(sum(x, axes, x.dims().rank), shape{});
}

namespace detail {
template <int... Axes>
struct sum_fn {
  constexpr var operator()(var x) const {
    if constexpr (sizeof...(Axes) == 0) {
      return sum_all(x);
    } else {
      int const axes[] = {Axes...};
      return sum(x, axes, sizeof...(Axes));
    }
  }
};
}  // namespace detail

template <int... Axes, handle X>
constexpr auto sum(X const& x) {
  return lift<detail::sum_fn<Axes...>>(x);
}

}  // namespace tx

#include <tx/ops/broadcast.hpp>  // the gradient repeats what was summed

namespace tx::detail {
constexpr int reduction_simplify(simplify_context& c, double nothing) {
  std::int64_t const count = c.input(0).info().count();
  if (count == 0) return broadcast_to(constant(c.g, c.info.type, nothing), c.info.dims).id;  // also of no sums, whose rows may be bounded
  return count == c.info.count() ? reshape(c.input(0), c.info.dims).id : -1;
}
// Rows of a transposed matrix are columns: they are read as they lie. [I, O] -> transposed [O, I] -> [O, 1]
constexpr int row_sum_simplify(simplify_context& c) {
  if (int const simpler = sum_simplify(c); simpler >= 0) return simpler;
  node const& from = c.producer(0);
  if (from.op != &transpose_info || from.info.dims.rank != 2 || from.info.dims.bounds != 0) return -1;
  return reshape(emit(col_sum_info, {var{&c.g, c.g.input(from, 0)}}), c.info.dims).id;
}
constexpr void row_sum_vjp(vjp_context& c) { c.accumulate(0, broadcast_to(c.gradient, c.in_info(0).dims)); }
constexpr void col_sum_vjp(vjp_context& c) { c.accumulate(0, broadcast_to(c.gradient, c.in_info(0).dims)); }
}  // namespace tx::detail
