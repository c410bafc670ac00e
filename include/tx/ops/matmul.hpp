// matmul(a, b): [..., M, K] x [..., K, N] -> [..., M, N]. A rank-2 right side serves all leading axes of the left one.
// A bounded extent may be that of the rows, of the batch, or what is summed over: transpose(x) y for x [rows, M], y [rows, N].
// Halves (bf16, f16) are multiplied exactly and summed in f32, which is the type of the result.
#pragma once

#include <tx/ops/reshape.hpp>

namespace tx {

constexpr var cast(var x, dtype to);  // its header leads here

namespace detail {
constexpr value_info matmul_infer(value_info const* in, int, attributes const&) {
  value_info const& a = in[0];
  value_info const& b = in[1];
  if (a.type != b.type || !is_float(a.type)) throw invalid("matmul: both sides need one floating-point type. FIX: cast<T>(x)");
  if (a.dims.rank < 2 || b.dims.rank != a.dims.rank) throw invalid("matmul: both sides need at least two axes. FIX: reshape a vector to [1, n] or [n, 1]");
  if (a.dims[-1] != b.dims[-2])
    throw invalid("matmul: the last extent of the left side is not the last but one of the right side. FIX: make them equal, or transpose a side");
  bool const sums_bounded = a.dims.rank == 2 && b.dims.tag && b.dims.tag.axis == 0 && a.dims.tag == b.dims.tag.on(1);
  bool const bounded_rows = !b.dims.tag && a.dims.tag.axis == 0;
  if (a.dims.rank == 2 ? !sums_bounded && !bounded_rows : a.dims.tag != b.dims.tag || a.dims.tag.axis != 0)
    throw invalid("matmul: a bounded extent must be that of the rows, of the batch on both sides, or summed over: transpose(x) y. FIX: keep it the leading axis of the left side, or of both");
  for (int i = 0; i + 2 < a.dims.rank; ++i)
    if (a.dims.dim[i] != b.dims.dim[i]) throw invalid("matmul: batch extents differ. FIX: broadcast_to the same leading axes");
  value_info out{sum_type(a.type), a.dims};
  if (sums_bounded) out.dims.tag = {};
  out.dims.dim[out.dims.rank - 1] = b.dims.last();
  return out;
}
constexpr void matmul_vjp(vjp_context& c);
constexpr int matmul_simplify(simplify_context& c);
}  // namespace detail

inline constexpr op_info matmul_info{
    .name = "matmul", .kind = op_kind::product, .arity = 2, .infer = detail::matmul_infer, .vjp = detail::matmul_vjp,
    .simplify = detail::matmul_simplify, .costly = true, .turned_bounds = true};

constexpr var matmul(var a, var b) {
  if (b.dims().rank == 2 && a.dims().rank > 2) {  // [..., M, K] -> [rows, K]
    shape rows{2, a.dims().tag, {1, a.dims().last()}};
    for (int i = 0; i + 1 < a.dims().rank; ++i) rows.dim[0] *= a.dims().dim[i];
    shape out = a.dims();
    out.dim[out.rank - 1] = b.dims().last();
    return reshape(emit(matmul_info, {reshape(a, rows), b}), out);
  }
  return emit(matmul_info, {a, b});
}

namespace detail {
struct matmul_fn {
  constexpr var operator()(var a, var b) const { return matmul(a, b); }
};
}  // namespace detail

template <handle A, handle B>
constexpr auto matmul(A const& a, B const& b) {
  return lift<detail::matmul_fn>(a, b);
}

}  // namespace tx

#include <tx/ops/broadcast.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/transpose.hpp>

namespace tx::detail {
// Sums of no depth are 0, and a product without elements is nothing to compute.
constexpr int matmul_simplify(simplify_context& c) {
  bool const nothing = c.input(0).dims().last() == 0 || c.info.count() == 0;
  return nothing ? broadcast_to(constant(c.g, c.info.type, 0), c.info.dims).id : -1;
}

constexpr void matmul_vjp(vjp_context& c) {
  var const gradient = cast(c.gradient, c.in_info(0).type);
  bool const sums_bounded = c.in_info(0).dims.tag.axis != 0;  // what is summed over stays in front
  if (c.needs(0)) c.accumulate(0, sums_bounded ? transpose(matmul(c.in(1), transpose(gradient))) : matmul(gradient, transpose(c.in(1))));
  if (c.needs(1)) c.accumulate(1, matmul(transpose(c.in(0)), gradient));
}
}  // namespace tx::detail
