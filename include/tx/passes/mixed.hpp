// Mixed precision: products multiply halves, everything else stays as it was. Before differentiation, so that the backward products
// are of halves too, and what is kept for them has half the size. Parameters, statistics and sums remain f32.
//
//   before   y = matmul(x, transpose(w))                                                     f32
//   after    p = matmul(cast<bf16>(x), transpose(cast<bf16>(w))), y = cast<f32>(cast<bf16>(p))    p: sums in f32
// An op whose kernel multiplies its operands (op_info::multiplied) takes halves too, and gives such.
#pragma once

#include <tx/ops/matmul.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::passes {

namespace detail {

struct mixing {
  dtype half;

  // A view of a rounded value rather than a rounded view: values are rounded where they are computed.
  constexpr int rounded(graph& to, int id) const {
    node const n = to[id];
    if (n.op->kind != op_kind::view || n.region != to.current) return cast({&to, id}, half).id;
    int const in = rounded(to, to.input(n, 0));
    return to.emit(n.op, &in, 1, n.at, {half, n.info.dims});
  }
  constexpr int operator()(graph& to, int, node& n, vec<int>& in) const {
    if (n.op->kind == op_kind::result && to.has_results(in[0])) {
      to.emit_results(in[0]);
      return cast({&to, in[0] + 1 + result_number(n.at)}, n.info.type).id;
    }
    if (n.op->multiplied > 0 && n.info.type == dtype::f32) {
      for (int k = 0; k < n.op->multiplied; ++k) in[k] = rounded(to, in[k]);
      int const several = to.emit(n.op, in.data(), in.size(), n.at);
      to.emit_results(several);
      return several;
    }
    if (n.op->kind != op_kind::product || n.info.type != dtype::f32 || is_half(to.info(in[0]).type)) return -1;
    int const sides[] = {rounded(to, in[0]), rounded(to, in[1])};
    var const product{&to, to.emit(n.op, sides, 2, n.at, n.info)};
    return cast(cast(product, half), dtype::f32).id;
  }
};

}  // namespace detail

constexpr graph mixed(graph const& g, dtype half) { return rewrite(g, detail::mixing{half}); }

}  // namespace tx::passes
