// Products of E4M3 that a target has no kernel or library for multiply halves, which hold every number of E4M3: the same products, and the same sums but for the order
// and the bits in which units for E4M3 add them.
//
//   before   p = matmul(q, transpose(r))                                     of E4M3
//   after    p = matmul(cast<bf16>(q), transpose(cast<bf16>(r)))             what is rounded to E4M3 is stored as halves
#pragma once

#include <tx/ops/cast.hpp>
#include <tx/passes/groups.hpp>
#include <tx/passes/rewrite.hpp>
#include <tx/passes/scaled_product.hpp>

namespace tx::passes {

// Says which products of E4M3 a target multiplies; null: none.
using e4m3_products = bool (*)(product_shape const&);

namespace detail {

struct widening {
  graph const& from;
  e4m3_products multiplies;

  constexpr int operator()(graph& to, int id, node& n, vec<int>& in) const {
    if (!is_product_of_e4m3(from, from[id]) || (multiplies != nullptr && multiplies(product_shape_of(from, from[id])))) return -1;
    for (int& side : in) side = widened(to, side);
    return to.emit(n.op, in.data(), in.size(), n.at, n.info);
  }

 private:
  // A view of a widened value rather than a widened view: it is widened where it is computed.
  static constexpr int widened(graph& to, int id) {
    node const n = to[id];
    if (n.op->kind != op_kind::view || n.region != to.current) return cast({&to, id}, dtype::bf16).id;
    int const in = widened(to, to.input(n, 0));
    return to.emit(n.op, &in, 1, n.at, {dtype::bf16, n.info.dims});
  }
};

}  // namespace detail

constexpr graph widened(graph g, e4m3_products multiplies) {
  bool any = false;
  for (int i = 0, end = g.size(); i < end; ++i) any = any || detail::is_product_of_e4m3(g, g[i]);
  if (!any) return g;
  return rewrite(g, detail::widening{g, multiplies});
}

}  // namespace tx::passes
