// The two multiplications behind a product of E4M3, as passes/quarters.hpp writes them: by what rows of the left side stand for, and by what columns of the right one do. A library
// does both as it stores the results.
//
//   p = matmul(q, transpose(r)), m = p * broadcast(u [rows, 1]), s = m * broadcast(v [1, cols])
#pragma once

#include <tx/ops/broadcast.hpp>
#include <tx/ops/mul.hpp>
#include <tx/passes/groups.hpp>

namespace tx::passes::detail {

constexpr bool is_product_of_e4m3(graph const& g, node const& n) { return n.op->kind == op_kind::product && g.info(g.input(n, 0)).type == dtype::e4m3; }

// What `value` is multiplied with by node `id`, before it is repeated; -1: the node is no such multiplication.
constexpr int scale_of(graph const& g, int id, int value) {
  if (g[id].op != &mul_info || (g.input(id, 0) == value) == (g.input(id, 1) == value)) return -1;
  int other = g.input(id, g.input(id, 0) == value ? 1 : 0);
  while (g[other].op == &broadcast_info) other = g.input(other, 0);
  return other;
}
constexpr bool scales_rows(graph const& g, int id, int value) {
  int const by = scale_of(g, id, value);
  if (by < 0) return false;
  shape const &own = g.info(by).dims, &all = g.info(id).dims;
  bool same = own.rank == all.rank && own.rank > 0 && own.at(-1) == bounded(1);
  for (int i = 0; same && i + 1 < all.rank; ++i) same = own.at(i) == all.at(i);
  return same;
}
constexpr bool scales_columns(graph const& g, int id, int value) {
  int const by = scale_of(g, id, value);
  return by >= 0 && g.info(by).dims.rank > 0 && g.info(by).dims.at(-1) == g.info(id).dims.at(-1) && g.info(by).dims.count() == g.info(id).dims.last();
}
// The product of E4M3 that node `id` is the second multiplication behind; -1: it is none.
constexpr int product_scaled_by(graph const& g, int id) {
  if (g[id].op != &mul_info) return -1;
  for (int k : {0, 1}) {
    int const rows = g.input(id, k);
    if (!scales_columns(g, id, rows) || g[rows].op != &mul_info) continue;
    for (int j : {0, 1})
      if (int const p = g.input(rows, j); is_product_of_e4m3(g, g[p]) && scales_rows(g, rows, p)) return p;
  }
  return -1;
}

}  // namespace tx::passes::detail
