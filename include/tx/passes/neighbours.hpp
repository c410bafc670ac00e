// What a device starts as one kernel lies side by side: products that read one value and have rounded weights of one shape, as those of queries, keys and values.
//
//   before   q = matmul(x, transpose(wq)), k = matmul(x, transpose(wk)), v = matmul(x, transpose(wv)); later dx = matmul(dq, wq) + matmul(dk, wk) + matmul(dv, wv)
//   after    w = join(wq, wk, wv), and wq is a slice of it; so are biases, and q, k and v: the three products are at equal distances, so that one call of a library
//            is all three. d = join(dq, dk, dv) [rows, 3 n], dx = matmul(d, w): one product of a greater depth
//
// Nothing is copied for that: joins are planned in place. A sum of products becomes one sum, which is rounded otherwise.
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/join.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/passes/hand_in.hpp>
#include <tx/passes/rewrite.hpp>
#include <tx/passes/storage.hpp>
#include <tx/passes/storage_order.hpp>

namespace tx::passes {

namespace detail {

class neighbour_finder {
 public:
  constexpr explicit neighbour_finder(graph& g) : g_(g), order_(storage_order(g)), joined_(g.size(), 0) {}

  constexpr bool run() {
    for (int id = 0, end = g_.size(); id < end; ++id) {
      if (g_[id].op->kind != op_kind::product) continue;
      vec<int> const products = siblings_of(id, end);
      if (products.size() > 1) become_neighbours(products);
    }
    g_.current = 0;
    g_.site = 0;
    return any_;
  }

 private:
  // ---- which -------------------------------------------------------------------------------------------------------------

  // Products of this value by rounded weights of one shape that are nobody's neighbours yet, in the order in which parameters lie; the first to be recorded asks.
  constexpr vec<int> siblings_of(int first, int end) const {
    vec<int> all{};
    int const of_first = weight_of(first);
    if (of_first < 0 || joined_[of_first]) return all;
    for (int id = first; id < end; ++id) {
      node const& n = g_[id];
      if (n.op != g_[first].op || n.region != g_[first].region || g_.input(n, 0) != g_.input(first, 0)) continue;
      int const weight = weight_of(id);
      if (weight < 0 || joined_[weight] || !(g_.info(weight) == g_.info(of_first))) continue;
      bool known = false;
      for (int other : all) known = known || weight_of(other) == weight;
      if (!known) all.push_back(id);
    }
    stable_sort(all, [this](int a, int b) { return parameter_first(g_[g_.input(weight_of(a), 0)].at) < parameter_first(g_[g_.input(weight_of(b), 0)].at); });
    return all;
  }
  // The rounded weights whose transpose is a product's right side, -1 where that is something else.
  constexpr int weight_of(int product) const {
    int const right = g_.input(product, 1);
    if (g_[right].op != &transpose_info || g_.info(right).dims.rank != 2) return -1;
    int const rounded = rounded_parameter(g_.input(right, 0));
    return rounded >= 0 && fills_transactions(g_.info(g_.input(right, 0))) ? rounded : -1;
  }
  // cast<half>(parameter) outside of all loops, which a value is, or a loop's view of it; -1: it is something else.
  constexpr int rounded_parameter(int id) const {
    id = outermost(g_, id);
    if (id < 0) return -1;
    node const& n = g_[id];
    return n.region == 0 && n.op == &cast_info && is_half(n.info.type) && g_[g_.input(n, 0)].op == &parameter_info ? id : -1;
  }
  // Neighbours begin where a whole transaction does.
  static constexpr bool fills_transactions(value_info const& info) { return info.dims.bounds == 0 && info.bytes() % 16 == 0; }

  // The only node that reads a value; -1: there are several, or none, or a region hands it out.
  constexpr int only_reader(int value) const {
    int reader = -1;
    for (int id = 0; id < g_.size(); ++id)
      for (int k = 0; k < g_[id].inputs; ++k) {
        if (g_.input(id, k) != value) continue;
        if (reader >= 0) return -1;
        reader = id;
      }
    return is_handed_out(value) ? -1 : reader;
  }
  constexpr bool is_handed_out(int value) const {
    for (region const& r : g_.regions)
      for (int result : r.results)
        if (result == value) return true;
    for (output const& o : g_.outputs)
      if (o.value == value || o.target == value) return true;
    return false;
  }

  // What a library makes of a product: it, or cast<half>(it), or cast<half>(it + cast<f32>(broadcast(bias))).
  struct ending {
    int value = -1;
    int bias = -1;  // as weight_of() has weights
  };
  constexpr ending ending_of(int product) const {
    int const reader = only_reader(product);
    if (reader < 0) return {product, -1};
    if (rounds(reader)) return {reader, -1};
    if (g_[reader].op != &add_info) return {product, -1};
    int const other = g_.input(reader, g_.input(reader, 0) == product ? 1 : 0), last = only_reader(reader);
    if (other == product || last < 0 || !rounds(last) || g_[other].op != &cast_info) return {product, -1};
    int row = g_.input(other, 0);
    while (g_[row].op->kind == op_kind::view) row = g_.input(row, 0);
    return {last, fills_transactions(g_.info(row)) && g_.info(row).dims.rank == 1 ? rounded_parameter(row) : -1};
  }
  constexpr bool rounds(int id) const { return g_[id].op == &cast_info && is_half(g_.info(id).type); }

  // ---- what becomes of them ------------------------------------------------------------------------------------------------

  constexpr void become_neighbours(vec<int> const& products) {
    any_ = true;
    vec<int> weights{}, biases{}, endings{};
    for (int p : products) {
      ending const e = ending_of(p);
      weights.push_back(weight_of(p));
      if (e.bias >= 0 && !has(biases, e.bias) && !joined_[e.bias]) biases.push_back(e.bias);
      endings.push_back(e.value);
    }
    vec<vec<int>> const sums = sums_of_products(weights);
    join_results(endings);
    if (biases.size() == products.size() && alike(biases)) put_together(biases, g_.info(biases[0]).dims.rank - 1);
    int const all = put_together(weights, g_.info(weights[0]).dims.rank - 2);
    for (vec<int> const& terms : sums) become_one(terms, all);
  }
  static constexpr bool has(vec<int> const& list, int id) {
    for (int other : list)
      if (other == id) return true;
    return false;
  }
  constexpr bool alike(vec<int> const& values) const {
    for (int v : values)
      if (!(g_.info(v) == g_.info(values[0])) || g_[v].region != g_[values[0]].region) return false;
    return true;
  }

  // Values lie side by side from where they are made on. Who reads them whole and stands behind all of them sees slices of that, else nobody might need it; none
  // is needed for what others are made of. The join's number.
  constexpr int put_together(vec<int> const& values, int axis) {
    node const first = g_[values[0]];
    go_on_in(g_, first.region, first);
    if (first.op == &result_info) g_.when = g_[g_.input(first, 0)].when;
    int const end = g_.size();
    int behind = 0;
    vec<var> in{};
    for (int v : values) {
      in.push_back({&g_, v});
      behind = v > behind ? v : behind;
    }
    var const all = join(in, axis);
    int start = 0;
    for (int v : values) {
      int const extent = g_.info(v).dims.dim[axis];
      int const part = slice(all, axis, start, extent, 1).id;
      start += extent;
      for (int id = behind + 1; id < end; ++id)
        if (!works_by_element(id)) replace(id, v, part);
      note(v);
    }
    return all.id;
  }
  // Such a kernel goes on with what it has at hand.
  constexpr bool works_by_element(int id) const {
    op_kind const k = g_[id].op->kind;
    return k == op_kind::elementwise || k == op_kind::row_reduce || k == op_kind::col_reduce || g_[id].op == &join_info;
  }
  constexpr void replace(int id, int value, int other) {
    for (int k = 0; k < g_[id].inputs; ++k)
      if (g_.input(id, k) == value) g_.operands[g_[id].first + k] = other;
  }
  constexpr void note(int id) {
    while (joined_.size() < g_.size()) joined_.push_back(0);
    joined_[id] = 1;
  }

  // Where a loop stacks all of them, what it stacks is joined.
  constexpr void join_results(vec<int> const& values) {
    if (!alike(values) || !fills_transactions(g_.info(values[0])) || g_.info(values[0]).dims.rank < 1) return;
    for (int v : values)  // as their readers want them they would not lie side by side
      if (joined_before(v) || !same_steps(order_[v], dense(g_.info(v).dims), g_.info(v).dims)) return;
    vec<int> stacked{};
    bool handed_out = false;
    for (int v : values) {
      handed_out = handed_out || is_handed_out(v);
      if (int const s = stacked_result(v); s >= 0 && !has(stacked, s)) stacked.push_back(s);
    }
    if (stacked.size() == values.size()) put_together(stacked, 0);
    else if (!handed_out) put_together(values, 0);
  }
  constexpr int stacked_result(int value) const {
    region const& body = g_.regions[g_[value].region];
    if (g_[value].region == 0 || body.owner < 0) return -1;
    int found = -1;
    for (int k = 0; k < body.results.size(); ++k) {
      if (body.results[k] != value) continue;
      if (found >= 0 || k < body.carries) return -1;
      for (int id = body.owner + 1; id < g_.size(); ++id)
        if (g_[id].op == &result_info && g_.input(id, 0) == body.owner && result_number(g_[id].at) == k) found = id;
    }
    return found >= 0 && !is_handed_out(found) && !joined_before(found) ? found : -1;
  }
  constexpr bool joined_before(int id) const {
    for (int reader = 0; reader < g_.size(); ++reader)
      for (int k = 0; g_[reader].op->kind == op_kind::gather_all && k < g_[reader].inputs; ++k)
        if (g_.input(reader, k) == id) return true;
    return false;
  }

  // ---- sums --------------------------------------------------------------------------------------------------------------

  // In each body, products by all the weights themselves that are added up: in the order of the weights, and the one that all others are added to last.
  constexpr vec<vec<int>> sums_of_products(vec<int> const& weights) const {
    vec<vec<int>> sums{};
    for (int r = 0; r < g_.regions.size(); ++r) {
      vec<int> terms{};
      for (int w : weights)
        if (int const t = product_by(w, r); t >= 0) terms.push_back(t);
      if (terms.size() != weights.size() || !lie_or_come_together(terms)) continue;
      for (int base : terms)
        if (are_added_to(base, terms)) {
          terms.push_back(base);
          sums.push_back(terms);
          break;
        }
    }
    return sums;
  }
  constexpr int product_by(int weight, int region_id) const {
    int found = -1;
    for (int id = 0; id < g_.size(); ++id) {
      node const& n = g_[id];
      if (n.op->kind != op_kind::product || n.region != region_id || n.info.dims.rank != 2 || rounded_parameter(g_.input(n, 1)) != weight) continue;
      if (found >= 0) return -1;
      found = id;
    }
    if (found < 0) return -1;
    int const left = g_.input(found, 0);
    bool const made_here = g_[left].region == region_id && (g_[left].op->kind == op_kind::elementwise || columns_of(left).of >= 0) && !is_handed_out(left) && !joined_before(left);
    return made_here && fills_transactions({g_.info(left).type, extents(g_.info(left).dims.last())}) && g_.info(left).dims.bounds == 0 ? found : -1;
  }
  // Are left sides columns that follow each other, or made here, each where it belongs?
  constexpr bool lie_or_come_together(vec<int> const& terms) const {
    vec<int> lefts{};
    bool made = true;
    for (int t : terms) {
      lefts.push_back(g_.input(t, 0));
      made = made && g_[lefts.back()].op->kind == op_kind::elementwise;
    }
    return made || follow_each_other(lefts);
  }
  // Columns of a value that a left side is, rows in their order; of is -1: it is something else.
  struct columns {
    int of = -1;
    std::int64_t first = 0;
  };
  constexpr columns columns_of(int left) const {
    int const part = through_dense(g_, left);
    if (g_[part].op != &slice_info) return {};
    tx::detail::slice_facts const f = tx::detail::slice_facts_of(g_[part].at);
    bool const of_last = f.axis == g_.info(part).dims.rank - 1 && f.step == 1 && f.count == g_.info(left).dims.last();
    return of_last ? columns{g_.input(part, 0), f.start} : columns{};
  }
  // Do these columns of one value follow each other?
  constexpr bool follow_each_other(vec<int> const& parts) const {
    columns const first = columns_of(parts[0]);
    std::int64_t next = first.first;
    for (int p : parts) {
      columns const c = columns_of(p);
      if (c.of < 0 || c.of != first.of || c.first != next) return false;
      next += g_.info(p).dims.last();
    }
    return true;
  }
  // All of them, as rows: what lies side by side already.
  constexpr int together(vec<int> const& parts) {
    columns const first = columns_of(parts[0]);
    int width = 0;
    for (int p : parts) width += static_cast<int>(g_.info(p).dims.last());
    node const like = g_[parts[0]];
    go_on_in(g_, like.region, like);
    shape const& of = g_.info(first.of).dims;
    var const all = width == of.last() ? var{&g_, first.of} : slice({&g_, first.of}, of.rank - 1, static_cast<int>(first.first), width, 1);
    return reshape(all, extents(g_.info(parts[0]).dims.dim[0], width)).id;
  }
  constexpr bool are_added_to(int base, vec<int> const& terms) const {
    vec<int> chain{};
    for (int add = only_reader(base); add >= 0 && g_[add].op == &add_info; add = only_reader(add)) chain.push_back(add);
    for (int t : terms) {
      if (t != base && !has(chain, only_reader(t))) return false;
      if (!(g_.info(t) == g_.info(base))) return false;
      int same = 0;
      for (int other : terms) same += g_.input(other, 0) == g_.input(t, 0);
      if (same != 1) return false;
    }
    return true;
  }
  constexpr void become_one(vec<int> const& terms, int weights) {
    int const base = terms.back();
    node const first = g_[base];
    vec<int> lefts{};
    for (int k = 0; k + 1 < terms.size(); ++k) lefts.push_back(g_.input(terms[k], 0));
    int const left = follow_each_other(lefts) ? together(lefts) : put_together(lefts, 1);
    int const right = handed_in_as(g_, g_.input(first, 1), weights);
    go_on_in(g_, first.region, first);
    int const sides[] = {left, right};
    int const sum = g_.emit(first.op, sides, 2, first.at, first.info);
    vec<int> adds{};
    for (int k = 0; k + 1 < terms.size(); ++k)
      if (terms[k] != base) adds.push_back(only_reader(terms[k]));
    replace_everywhere(g_, base, sum);
    for (int k = 0, next = 0; k + 1 < terms.size(); ++k) {
      if (terms[k] == base) continue;
      int const add = adds[next++];
      replace_everywhere(g_, add, g_.input(add, g_.input(add, 0) == terms[k] ? 1 : 0));
    }
  }

  graph& g_;
  vec<strided> const order_;  // of values as they were recorded
  vec<char> joined_;  // node -> is it part of a join?
  bool any_ = false;
};

}  // namespace detail

constexpr graph neighbours(graph g) {
  if (!detail::neighbour_finder(g).run()) return g;
  return rewrite(g, detail::as_it_is{});
}

}  // namespace tx::passes
