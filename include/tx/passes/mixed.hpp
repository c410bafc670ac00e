// Mixed precision: products multiply halves, everything else stays as it was. Before differentiation, so that the backward products
// are of halves too, and what is kept for them has half the size. Parameters, statistics and sums remain f32.
//
//   before   y = matmul(x, transpose(w))                                                     f32
//   after    p = matmul(cast<bf16>(x), transpose(cast<bf16>(w))), y = cast<f32>(cast<bf16>(p))    p: sums in f32
// A bias is added before the sums are rounded, and is rounded itself: what libraries of products do as they store their results, and one rounding
// of the sum in place of two.
//
//   before   y = matmul(x, transpose(w)) + broadcast(b)                                       f32
//   after    y = cast<f32>(cast<bf16>(p + cast<f32>(cast<bf16>(broadcast(b)))))
//
// An op whose kernel multiplies its operands (op_info::multiplied) takes halves too, and gives such.
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::passes {

namespace detail {

class mixing {
 public:
  constexpr mixing(graph const& from, dtype to) : from_(from), half_(to), readers_(from.size(), 0) {
    for (int i = 0; i < from.size(); ++i)
      for (int k = 0; k < from[i].inputs; ++k) ++readers_[from.input(i, k)];
    for (output const& o : from.outputs) ++readers_[o.value];
    for (region const& r : from.regions)
      for (int value : r.results) ++readers_[value];
  }

  constexpr int operator()(graph& to, int id, node& n, vec<int>& in) const {
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
    if (n.op == &add_info)
      for (int side : {0, 1})
        if (is_product_alone(from_.input(id, side)) && is_bias(from_.input(id, 1 - side))) return with_bias(to, n, in[side], in[1 - side]);
    if (!is_mixed(n)) return -1;
    int const sides[] = {rounded(to, in[0]), rounded(to, in[1])};
    return rounded_sum({&to, to.emit(n.op, sides, 2, n.at, n.info)});
  }

 private:
  constexpr bool is_mixed(node const& product) const {
    return product.op->kind == op_kind::product && product.info.type == dtype::f32 && !is_half(from_.info(from_.input(product, 0)).type);
  }
  // In other extents perhaps, of rows that stay rows: [texts * tokens, cols] -> [texts, tokens, cols]
  constexpr bool is_product_alone(int id) const {
    bounded const row = from_.info(id).dims.rank > 0 ? from_.info(id).dims.at(-1) : bounded(0);
    while (from_[id].op == &reshape_info && readers_[id] == 1) id = from_.input(id, 0);
    return is_mixed(from_[id]) && readers_[id] == 1 && from_.info(id).dims.at(-1) == row;
  }
  // A row of numbers that is known before the product, the same for each row of it: every view down to the leaf shows such rows whole and in order. A column
  // that is repeated, and a row whose elements a view puts in another order, have as many elements where the product is square.
  constexpr bool is_bias(int id) const {
    shape const all = from_.info(id).dims;
    if (all.rank == 0 || all.last() < 2 || from_[id].op != &broadcast_info) return false;
    while (from_[id].op == &broadcast_info || from_[id].op == &reshape_info) {
      id = from_.input(id, 0);
      if (from_.info(id).dims.rank == 0 || from_.info(id).dims.at(-1) != all.at(-1)) return false;
    }
    return from_.info(id).dims.count() == all.last() && from_[id].op->kind == op_kind::leaf;
  }

  constexpr int rounded_sum(var sum) const { return cast(cast(sum, half_), dtype::f32).id; }
  // A node that adds what they stand for: a product, rounded and reshaped by now, and a bias, repeated.
  constexpr int with_bias(graph& to, node const& adds, int product, int bias) const {
    shape const wanted = adds.info.dims;
    while (to[product].op == &reshape_info) product = to.input(product, 0);
    while (to[bias].op->kind == op_kind::view) bias = to.input(bias, 0);
    var const sums{&to, to.input(to.input(product, 0), 0)};
    shape const all = sums.dims();
    var const row = broadcast_to(reshape(var{&to, bias}, extents(all.last())), all);
    return reshape(var{&to, rounded_sum(sums + cast(cast(row, half_), dtype::f32))}, wanted).id;
  }
  // A view of a rounded value rather than a rounded view: values are rounded where they are computed.
  constexpr int rounded(graph& to, int id) const {
    node const n = to[id];
    if (n.op->kind != op_kind::view || n.region != to.current) return cast({&to, id}, half_).id;
    int const in = rounded(to, to.input(n, 0));
    return to.emit(n.op, &in, 1, n.at, {half_, n.info.dims});
  }

  graph const& from_;
  dtype half_;
  vec<int> readers_;  // of each node
};

}  // namespace detail

constexpr graph mixed(graph const& g, dtype to) { return rewrite(g, detail::mixing(g, to)); }

}  // namespace tx::passes
