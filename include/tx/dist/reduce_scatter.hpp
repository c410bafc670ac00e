// reduce_scatter<Axis, Ranks>(x): of the sum of x over all ranks each rank's portion of the rows along the axis; see own_rows.hpp.
//
//   s = reduce_scatter<0, 4>(x)   x [10, 16] -> [3, 16]   of ranks 0 to 2 three rows, of rank 3 one and two of zeros
//   all_gather<0, 4, 10>(s)       [3, 16] -> [10, 16]     the portions of all
//
// The gradient of each is the other. f32 and f64, and halves, which are added in f32 and rounded once.
// Errors: ranks that bring different shapes get a rank_error; a communicator of another number of ranks than the portions are for is one too.
#pragma once

#include <tx/dist/own_rows.hpp>

namespace tx {

namespace detail {
constexpr value_info reduce_scatter_infer(value_info const* in, int, attributes const& at) {
  if (!is_float(in[0].type)) throw invalid("reduce_scatter: sums are of floating-point numbers. FIX: cast<tx::f32>(x)");
  return own_rows_infer(in, 1, at);
}
constexpr void reduce_scatter_vjp(vjp_context& c);
constexpr value_info all_gather_infer(value_info const* in, int, attributes const& at) {
  value_info info = in[0];
  divided_axis const d = divided_axis::of(at);
  check_divided(info.dims, d);
  if (d.extent < 1 || info.dims.dim[d.axis] != rows_of_rank(d.extent, d.ranks.count))
    throw invalid("all_gather: a rank has another number of rows than its portion of so many is. FIX: the extent of what reduce_scatter was given");
  info.dims.set(d.axis, d.extent);
  return info;
}
constexpr void all_gather_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info reduce_scatter_info{
    .name = "reduce_scatter", .kind = op_kind::collective, .arity = 1, .infer = detail::reduce_scatter_infer, .vjp = detail::reduce_scatter_vjp, .along_axis = true};
inline constexpr op_info all_gather_info{
    .name = "all_gather", .kind = op_kind::collective, .arity = 1, .infer = detail::all_gather_infer, .vjp = detail::all_gather_vjp, .along_axis = true, .computed_again = true};

namespace rules {
struct reduce_scatter {
  template <class Communicator, class T>
  static void run(Communicator& ranks, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    detail::for_each_block(ranks, detail::divided_axis::of(at), in, out, [&](std::span<T const> whole, std::span<T> own) { ranks.reduce_scatter(whole, own); });
  }
};
struct all_gather {
  template <class Communicator, class T>
  static void run(Communicator& ranks, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    detail::for_each_block(ranks, detail::divided_axis::of(at), out, in, [&](std::span<T> whole, std::span<T const> own) { ranks.all_gather(own, whole); });
  }
};
}  // namespace rules
template <>
struct exec::collective_rule<&reduce_scatter_info> {
  using type = rules::reduce_scatter;
};
template <>
struct exec::collective_rule<&all_gather_info> {
  using type = rules::all_gather;
};

constexpr var reduce_scatter(var x, int axis, dividing_ranks ranks) { return emit(reduce_scatter_info, {x}, detail::divided_axis::checked(x.dims(), axis, ranks).coded()); }
// x: a portion of `extent` rows along the axis.
constexpr var all_gather(var x, int axis, dividing_ranks ranks, int extent) { return emit(all_gather_info, {x}, detail::divided_axis::checked(x.dims(), axis, ranks, extent).coded()); }

namespace detail {
// Of what was gathered a moment ago.
constexpr int own_rows_simplify(simplify_context& c) {
  node const& from = c.producer(0);
  divided_axis const d = divided_axis::of(c.at);
  if (from.op != &all_gather_info) return -1;
  divided_axis const of = divided_axis::of(from.at);
  bool const no_rest = of.extent == of.ranks.count * rows_of_rank(of.extent, of.ranks.count);  // else the last portions end with zeros, whatever was gathered
  return of.axis == d.axis && of.ranks == d.ranks && (no_rest || of.zeros_behind) ? c.g.input(from, 0) : -1;
}
constexpr void own_rows_vjp(vjp_context& c) {
  divided_axis d = divided_axis::of(c.at());
  d.extent = c.in_info(0).dims.dim[d.axis];
  c.accumulate(0, emit(all_gather_info, {c.gradient}, d.coded()));
}
constexpr void reduce_scatter_vjp(vjp_context& c) {
  divided_axis const d = divided_axis::of(c.at());
  c.accumulate(0, all_gather(c.gradient, d.axis, d.ranks, c.in_info(0).dims.dim[d.axis]));
}
constexpr void all_gather_vjp(vjp_context& c) {
  divided_axis const d = divided_axis::of(c.at());
  c.accumulate(0, reduce_scatter(c.gradient, d.axis, d.ranks));
}
template <int Axis, int Ranks>
struct reduce_scatter_fn {
  constexpr var operator()(var x) const { return reduce_scatter(x, Axis, Ranks); }
};
template <int Axis, int Ranks, int Extent>
struct all_gather_fn {
  constexpr var operator()(var x) const { return all_gather(x, Axis, Ranks, Extent); }
};
}  // namespace detail

template <int Axis, int Ranks, handle X>
constexpr auto reduce_scatter(X const& x) {
  return lift<detail::reduce_scatter_fn<Axis, Ranks>>(x);
}
template <int Axis, int Ranks, int Extent, handle X>
constexpr auto all_gather(X const& x) {
  return lift<detail::all_gather_fn<Axis, Ranks, Extent>>(x);
}

}  // namespace tx
