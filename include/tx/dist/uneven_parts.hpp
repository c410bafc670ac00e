// Parts of an axis that ranks do not divide evenly, as a vocabulary: each has room for as many rows as the others, and what lies behind the last row of all, the rest, is nobody's.
//
//   of 7 words among 4 ranks   0 1   2 3   4 5   6 .      logits [5, 7] -> [5, 2] of each, one column of rank 3's no word's
//
// A rest holds numbers all the same: zeros of a parameter, and what elementwise ops make of those. It must not count, whatever it is (but finite_guard tells of NaN in it):
//
//   within_extent(x, of, 0)   x, and a number in the rest: for what adds up an axis, or finds the largest along it
//   own_gradient(x, of)       x, whose gradient is 0 in the rest, also where an op in between has made 0 * infinity of it: for what enters a computation that ranks divide
#pragma once

#include <tx/dist/own_rows.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {

// Where this rank's part of an axis begins, of which each has so many elements.
constexpr var first_of_part(graph& g, dividing_ranks ranks, int each) {
  var const number = own_rows(iota(g, extents(ranks.count), 0), 0, ranks);
  return reshape(number, shape{}) * each;
}
// Which elements there are of a part along of.axis, of of.extent elements of all ranks; compared once for all rows: of [rows, 16] bool [1, 16].
constexpr var in_extent(graph& g, shape const& part, divided_axis const& of) {
  shape line{};
  for (int a = 0; a < part.rank; ++a) line.add(a == of.axis ? part.at(a) : bounded(1));
  return less(iota(g, line, of.axis) + broadcast_to(first_of_part(g, of.ranks, line.dim[of.axis]), line), of.extent);
}
constexpr var within_extent(var x, divided_axis const& of, double otherwise) { return where(in_extent(*x.g, x.dims(), of), x, otherwise); }

constexpr value_info own_gradient_infer(value_info const* in, int, attributes const&) { return in[0]; }
constexpr void own_gradient_vjp(vjp_context& c) { c.accumulate(0, within_extent(c.gradient, divided_axis::of(c.at()), 0.0)); }
constexpr int own_gradient_simplify(simplify_context& c) { return c.in[0]; }
constexpr bool own_gradient_restride(strided&, shape const&, shape const&, attributes const&) { return true; }

}  // namespace detail

// A view that moves nothing; passes after differentiation see through it.
inline constexpr op_info own_gradient_info{.name = "own_gradient",
                                           .kind = op_kind::view,
                                           .arity = 1,
                                           .infer = detail::own_gradient_infer,
                                           .vjp = detail::own_gradient_vjp,
                                           .simplify = detail::own_gradient_simplify,
                                           .restride = detail::own_gradient_restride};

constexpr var own_gradient(var x, detail::divided_axis const& of) { return emit(own_gradient_info, {x}, of.coded()); }

}  // namespace tx
