// Which values ranks may divide among them, so that each computes a part of the products: found in a recorded graph, before it is differentiated.
//
//   h = gelu(x w + b)    columns of w and b are divided, so each rank has columns of h
//   y = h v              rows of v are divided: each rank has an addend of y
//   e = embedding(t, i)  rows of a long table t are divided: each rank has those that it names, and zeros
//   s = sum(exp(x w))    of logits of many classes, as of a vocabulary, rows are summed, or their largest is found: each rank has that of its columns
//
// An axis that ranks do not divide evenly, as a vocabulary, has a rest on the last ones (uneven_parts.hpp). Such a one is divided as it is, never split into heads or merged, and only where a product is much wider
// than it is deep.
//
// Columns of a product are divided where everything made of them leads to products over those columns, by way of ops that keep them apart: elementwise ones, views, and attention,
// whose heads they are. Sums of rows are no way to divide a norm by, which would be two more sums over ranks in each layer: only of products much wider than they are deep. What leads elsewhere, as to a norm or a result, is left whole, and with it all that would have to be divided in the same way, as queries, keys and values.
#pragma once

#include <tx/graph/leaf.hpp>
#include <tx/graph/order.hpp>
#include <tx/ops/attention.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/stop_gradient.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/transpose.hpp>

namespace tx::dist::detail {

// Where the leading elements of an axis lie that keeps a view's elements in order: of [6, 8] as [6, 2, 4] axis 1 is 1, and so it is of [6, 2, 4] as [6, 8]. -1: nowhere. Extents before it
// are as many in each run: of [B <= 4, 6] as [4, B, 6 / 4] they are not.
constexpr int axis_in_order(shape const& from, shape const& to, int axis) {
  bounded before = 1, at = 1;
  for (int a = 0; a < axis; ++a) before = before * from.at(a);
  for (int a = 0; a < to.rank; ++a) {
    bool const nested = to.dim[a] > 1 && (to.dim[a] % from.dim[axis] == 0 || from.dim[axis] % to.dim[a] == 0);
    if (at == before && nested) return a;
    at = at * to.at(a);
  }
  return -1;
}

// The axis of a view's result that an axis of its operand is; -1: it has none.
constexpr int axis_of_view(node const& view, shape const& from, int axis) {
  shape const& to = view.info.dims;
  if (view.op == &reshape_info) return axis_in_order(from, to, axis);
  if (view.op == &transpose_info) {
    for (int a = 0; a < to.rank; ++a)
      if (source_axis(view.at, a) == axis) return a;
    return -1;
  }
  if (view.op == &broadcast_info) return axis;  // there is more than one of it, so it is not repeated
  if (view.op == &slice_info) return tx::detail::slice_facts_of(view.at).axis != axis ? axis : -1;
  return view.op == &stop_gradient_info ? axis : -1;
}

// Does a view divide what its operand divides, where an axis of so many elements becomes one of so many? Not where it splits or merges what ranks have unequal parts of.
constexpr bool divided_alike(int from, int to, int ranks) { return from % ranks == 0 ? to % ranks == 0 : to == from; }

class divided_values {
 public:
  constexpr divided_values(graph const& g, int ranks)
      : axis(g.size(), -1), columns(g.size(), 0), depth(g.size(), 0), reduced(g.size(), 0), lookup(g.size(), 0), g_(g), ranks_(ranks), order_(order_of_nodes(g)), group_(g.size(), -1), candidate_(g.size(), -1), stopped_(g.size(), 1) {
    find_stopped();
    for (int id : order_) {
      if (!may_begin(id)) continue;
      candidate_[id] = joined_.size();
      joined_.push_back(joined_.size());
      given_up_.push_back(0);
      wide_.push_back(is_wide(g_.info(g_.input(id, 1)).dims));
    }
    do {
      again_ = false;
      for (int id : order_) visit(id);
      for (region const& r : g_.regions)
        for (int value : r.results) refuse(value);
      for (output const& o : g_.outputs) refuse(o.value);
    } while (again_);
  }

  vec<int> axis;      // value -> the axis that ranks divide; -1: each rank has all
  vec<char> columns;  // products whose right side each rank has columns of, and so of the result
  vec<char> depth;    // products of which each rank has an addend
  vec<char> reduced;  // sums and largest elements of rows that each rank has a part of
  vec<char> lookup;   // embeddings of whose table each rank has some rows
  constexpr bool some() const {
    for (int id = 0; id < depth.size(); ++id)
      if (depth[id] || reduced[id] || lookup[id]) return true;
    return false;
  }

 private:
  // ---- groups of products that are divided together, or not at all ------------------------------------------------------

  constexpr int root(int candidate) const {
    while (joined_[candidate] != candidate) candidate = joined_[candidate];
    return candidate;
  }
  constexpr void join(int a, int b) {
    int const x = root(a), y = root(b);
    if (given_up_[x] != given_up_[y]) {
      given_up_[x] = 1;
      again_ = true;
    }
    if (wide_[x] != wide_[y]) {
      again_ = true;  // what was divided because of one of them
      wide_[x] = 0;
    }
    joined_[y] = x;
  }
  // What is divided may not be so here.
  constexpr void refuse(int value) {
    if (axis[value] < 0) return;
    given_up_[root(group_[value])] = 1;
    again_ = true;
  }
  constexpr void refuse_all(node const& n) {
    for (int k = 0; k < n.inputs; ++k) refuse(g_.input(n, k));
  }
  constexpr void divide(int id, int a, int group) {
    axis[id] = a;
    group_[id] = group;
  }

  // ---- one value -------------------------------------------------------------------------------------------------------

  // A product by a parameter, of columns that ranks can divide.
  constexpr bool may_begin(int id) const {
    node const& n = g_[id];
    if (n.op->kind != op_kind::product || n.info.dims.is_bounded(n.info.dims.rank - 1) || n.info.dims.last() == 0) return false;
    int const right = g_.input(n, 1);
    return is_parameter(right) && (n.info.dims.last() % ranks_ == 0 || is_wide(g_.info(right).dims));
  }
  // Or a view of one, rounded perhaps.
  constexpr bool is_parameter(int side) const {
    while (g_[side].op->kind == op_kind::view || g_[side].op == &cast_info) side = g_.input(side, 0);
    return g_[side].op == &parameter_info || g_[side].op == &argument_info;
  }
  // Of the right side of a product, [depth, columns]. A feed-forward layer's is four times as wide as it is deep, and needs no sums of rows.
  static constexpr bool is_wide(shape const& right, int times = 2) { return right.rank >= 2 && right.dim[right.rank - 1] > times * right.dim[right.rank - 2]; }
  // Values that nothing sees but stop_gradient.
  constexpr void find_stopped() {
    for (int id = 0; id < g_.size(); ++id)
      if (g_[id].op != &stop_gradient_info)
        for (int k = 0; k < g_[id].inputs; ++k) stopped_[g_.input(id, k)] = 0;
    for (region const& r : g_.regions)
      for (int value : r.results) stopped_[value] = 0;
    for (output const& o : g_.outputs) stopped_[o.value] = 0;
  }

  constexpr void visit(int id) {
    node const& n = g_[id];
    axis[id] = -1;
    columns[id] = depth[id] = reduced[id] = lookup[id] = 0;
    switch (n.op->kind) {
      case op_kind::view: return visit_view(id);
      case op_kind::elementwise: return visit_elementwise(id);
      case op_kind::row_reduce:
        if (int const in = g_.input(n, 0); axis[in] >= 0) {
          if (axis[in] + 1 == g_.info(in).dims.rank) visit_reduction(id, in);
          else divide(id, axis[in], group_[in]);
        }
        return;
      case op_kind::product: return visit_product(id);
      case op_kind::whole:
        if (n.op == &attention_info) return visit_attention(id);
        return n.op == &embedding_info ? visit_embedding(id) : refuse_all(n);
      case op_kind::result:
        if (int const of = g_.input(n, 0); g_.has_results(of) && axis[of] >= 0) divide(id, result_number(n.at) == 0 ? axis[of] : 1, group_[of]);
        return;
      default: return refuse_all(n);
    }
  }
  // Of rows that are divided themselves. The largest has no gradient here: which rank has it would have to be known.
  constexpr void visit_reduction(int id, int in) {
    node const& n = g_[id];
    bool const can = n.op == &row_sum_info || (n.op == &row_max_info && stopped_[id]);
    if (can && wide_[root(group_[in])] && is_float(n.info.type)) reduced[id] = 1;
    else refuse(in);
  }
  constexpr void visit_embedding(int id) {
    node const& n = g_[id];
    int const table = g_.input(n, 0), ids = g_.input(n, 1);
    refuse_all(n);
    shape const& dims = g_.info(table).dims;
    bool const wide_ids = g_.info(ids).type == dtype::i32 || g_.info(ids).type == dtype::i64;
    lookup[id] = axis[table] < 0 && is_parameter(table) && !dims.is_bounded(0) && dims.dim[0] > 2 * dims.dim[1] && wide_ids;
  }
  constexpr void visit_view(int id) {
    node const& n = g_[id];
    int const in = g_.input(n, 0);
    if (axis[in] < 0) return;
    shape const& from = g_.info(in).dims;
    int const a = axis_of_view(n, from, axis[in]);
    if (a < 0 || n.info.dims.is_bounded(a) || !divided_alike(from.dim[axis[in]], n.info.dims.dim[a], ranks_)) refuse(in);
    else divide(id, a, group_[in]);
  }
  constexpr void visit_elementwise(int id) {
    node const& n = g_[id];
    int first = -1;
    for (int k = 0; k < n.inputs; ++k) {
      int const in = g_.input(n, k);
      if (axis[in] < 0) continue;
      if (first < 0) first = in;
      join(group_[first], group_[in]);
      if (axis[in] != axis[first]) refuse(in);
    }
    if (first >= 0) divide(id, axis[first], group_[first]);
  }
  constexpr void visit_product(int id) {
    node const& n = g_[id];
    int const left = g_.input(n, 0), right = g_.input(n, 1), rank = n.info.dims.rank, l = axis[left], r = axis[right];
    if (l < 0 && r < 0) {
      int const own = candidate_[id];
      if (own < 0 || given_up_[root(own)]) return;
      columns[id] = 1;
      return divide(id, rank - 1, own);
    }
    if (r >= 0) return visit_product_of_parts(id, left, right);
    // Of activations by a parameter: the depth is divided. Rows may be, too. But logits over a vocabulary, of which addends would be as long as all of them, are divided themselves.
    int const own = candidate_[id];
    if (l == rank - 1 && own >= 0 && !given_up_[root(own)] && is_wide(g_.info(right).dims, 8)) refuse(left);
    else if (l == rank - 1) depth[id] = 1;
    else if (l == rank - 2) divide(id, l, group_[left]);
    else refuse(left);
  }
  // Both sides are made of divided values: heads are multiplied each by itself.
  constexpr void visit_product_of_parts(int id, int left, int right) {
    if (axis[left] >= 0) join(group_[left], group_[right]);
    if (axis[left] == axis[right] && axis[right] < g_.info(id).dims.rank - 2) return divide(id, axis[right], group_[right]);
    refuse(left);
    refuse(right);
  }
  constexpr void visit_attention(int id) {
    node const& n = g_[id];
    attention_facts const f = attention_facts_of(n.at);
    int const q = g_.input(n, 0), k = g_.input(n, 1), v = g_.input(n, 2);
    bool fits = f.heads % ranks_ == 0 && f.key_heads % ranks_ == 0 && !f.bias;
    int divided = 0;
    for (int in : {q, k, v})
      if (axis[in] >= 0) {
        ++divided;
        fits = fits && axis[in] + 1 == g_.info(in).dims.rank;
      }
    if (divided == 0) return;
    if (f.dropout) {  // of a fixed number of queries, so that it is known which rows of all are a rank's
      int const noise = g_.input(n, 3 + f.noise_at());
      fits = fits && g_[noise].op == &random_info && !g_.info(noise).dims.is_bounded(2);
    }
    if (!fits || divided < 3) return refuse_all(n);
    join(group_[q], group_[k]);
    join(group_[q], group_[v]);
    divide(id, axis[q], group_[q]);
  }

  graph const& g_;
  int ranks_;
  vec<int> order_;
  vec<int> group_;      // of a divided value
  vec<int> candidate_;  // product -> its group; -1: its columns are not divided
  vec<int> joined_{};   // group -> one that it is joined with
  vec<char> stopped_;
  vec<char> given_up_{}, wide_{};
  bool again_ = false;
};

}  // namespace tx::dist::detail
