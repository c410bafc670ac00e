// matmul(a, b): [..., M, K] x [..., K, N] -> [..., M, N]. A rank-2 right side serves all leading axes of the left one.
// Extents may be bounded, the one that is summed over too.
// Halves (bf16, f16) and E4M3 are multiplied exactly and summed in f32, which is the type of the result. Gradients by E4M3 are products of bf16.
#pragma once

#include <tx/ops/reshape.hpp>

namespace tx {

constexpr var cast(var x, dtype to);  // its header leads here

namespace detail {
constexpr value_info matmul_infer(value_info const* in, int, attributes const&) {
  value_info const& a = in[0];
  value_info const& b = in[1];
  if (a.type != b.type || !is_float(a.type)) throw invalid("matmul: both sides need one floating-point type. FIX: cast<T>(x)");
  if (a.dims.rank < 2 || b.dims.rank < 2) throw invalid("matmul: both sides need at least two axes. FIX: reshape a vector to [1, n] or [n, 1]");
  if (b.dims.rank != a.dims.rank) throw invalid("matmul: the sides have unlike numbers of axes, and the right one is no matrix. FIX: broadcast_to the same leading axes");
  if (a.dims[-1] != b.dims[-2])
    throw invalid("matmul: the last extent of the left side is not the last but one of the right side. FIX: make them equal, or transpose a side");
  if (!(a.dims.factors_at(a.dims.rank - 1) == b.dims.factors_at(b.dims.rank - 2)))
    throw invalid("matmul: what is summed over is a bounded extent on one side, and on the other another one, or a fixed one. FIX: give both the same dyn<Max, Tag>");
  for (int i = 0; i + 2 < a.dims.rank; ++i)
    if (!(a.dims.at(i) == b.dims.at(i))) throw invalid("matmul: batch extents differ. FIX: broadcast_to the same leading axes");
  value_info out{sum_type(a.type), a.dims};
  out.dims.set_last(b.dims.at(-1));
  return out;
}
constexpr void matmul_vjp(vjp_context& c);
constexpr int matmul_simplify(simplify_context& c);
}  // namespace detail

inline constexpr op_info matmul_info{
    .name = "matmul", .kind = op_kind::product, .arity = 2, .infer = detail::matmul_infer, .vjp = detail::matmul_vjp,
    .simplify = detail::matmul_simplify, .costly = true};

constexpr var matmul(var a, var b) {
  if (b.dims().rank == 2 && a.dims().rank > 2) {  // [..., M, K] -> [rows, K]
    bounded rows = 1;
    for (int i = 0; i + 1 < a.dims().rank; ++i) rows = rows * a.dims().at(i);
    shape out = a.dims();
    out.set_last(b.dims().at(-1));
    return reshape(emit(matmul_info, {reshape(a, extents(rows, a.dims().at(-1))), b}), out);
  }
  return emit(matmul_info, {a, b});
}

namespace detail {
struct matmul_fn {
  constexpr var operator()(var a, var b) const { return matmul(a, b); }
};
}  // namespace detail

// The commonest mistake is an assertion: a compiler needs fewer lines for one than for a rule that throws.
template <handle A, handle B>
constexpr auto matmul(A const& a, B const& b) {
  if constexpr (typed_handle<A> && typed_handle<B>)
    if constexpr (A::info.dims.rank >= 2 && B::info.dims.rank >= 2)
      static_assert(A::info.dims.last() == B::info.dims.dim[B::info.dims.rank - 2],
                    "matmul: the last extent of the left side is not the last but one of the right side. FIX: make them equal, or transpose a side");
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
  dtype const type = c.in_info(0).type == dtype::e4m3 ? dtype::bf16 : c.in_info(0).type;  // a gradient is seldom within the range of E4M3
  var const gradient = cast(c.gradient, type);
  if (c.needs(0)) c.accumulate(0, matmul(gradient, transpose(cast(c.in(1), type))));
  if (c.needs(1)) c.accumulate(1, matmul(transpose(cast(c.in(0), type)), gradient));
}
}  // namespace tx::detail
