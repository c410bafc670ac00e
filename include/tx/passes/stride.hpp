// Views resolved: which computed value each node reads, and at which strides. A view that strides cannot express is moved.
#pragma once

#include <tx/core/vec.hpp>
#include <tx/graph/graph.hpp>
#include <tx/graph/leaf.hpp>

namespace tx::passes {

struct view {
  int base = -1;           // the node whose elements are read; itself for anything computed
  strided at{};            // elements of the base
  std::int64_t step = 0;   // added per iteration of the region the node is in
};

constexpr strided dense(shape const& dims) {
  strided s{};
  std::int64_t stride = 1;
  for (int i = dims.rank - 1; i >= 0; --i) {
    s.stride[i] = dims.dim[i] == 1 ? 0 : stride;
    stride *= dims.dim[i];
  }
  return s;
}

constexpr bool same_strides(strided const& a, strided const& b, shape const& dims) {
  if (a.offset != b.offset) return false;
  for (int i = 0; i < dims.rank; ++i)
    if (dims.dim[i] != 1 && a.stride[i] != b.stride[i]) return false;
  return true;
}

constexpr bool is_computed(op_kind kind) {
  return kind == op_kind::elementwise || kind == op_kind::row_reduce || kind == op_kind::col_reduce || kind == op_kind::product ||
         kind == op_kind::whole || kind == op_kind::collective;
}

// Values whose first transposed reader would be dense if they were stored in its order; the last axis keeps its place.
// Attention heads come out of a product as [batch, head, token, d] and are stored [batch, token, head, d].
constexpr vec<strided> storage_order(graph const& g) {
  vec<strided> order{};
  order.reserve(g.size());
  for (int i = 0; i < g.size(); ++i) order.push_back(dense(g.info(i).dims));
  vec<char> chosen(g.size(), 0);
  for (int i = 0; i < g.size(); ++i) {
    node const& n = g[i];
    if (n.op->kind != op_kind::view || n.inputs != 1) continue;
    int const from = g.input(n, 0);
    node const& source = g[from];
    if (chosen[from] || (source.op->kind != op_kind::elementwise && source.op->kind != op_kind::product)) continue;
    if (source.info.count() != n.info.count() || source.info.dims.rank != n.info.dims.rank) continue;
    chosen[from] = 1;  // the first reader decides
    strided const plain = dense(source.info.dims);
    strided seen = plain;
    if (!n.op->restride(seen, source.info.dims, n.info.dims, n.at)) continue;
    int const last = n.info.dims.rank - 1;
    strided const wanted = dense(n.info.dims);
    if (same_strides(seen, wanted, n.info.dims) || (n.info.dims.dim[last] != 1 && seen.stride[last] != 1)) continue;
    strided stored{};
    for (int a = 0; a < source.info.dims.rank; ++a)
      for (int j = 0; j < n.info.dims.rank; ++j)
        if (source.info.dims.dim[a] != 1 && seen.stride[j] == plain.stride[a] && n.info.dims.dim[j] == source.info.dims.dim[a])
          stored.stride[a] = wanted.stride[j];
    if (source.info.dims.last() != 1 && stored.stride[last] != 1) continue;  // rows are stored whole
    order[from] = stored;
  }
  return order;
}

// order: how each value is stored. moved[i] is set for views that no strides over that storage express; they become copies.
// With `given` moved views, the others are only described: one that dense storage could not express never matches anything.
constexpr vec<view> resolve_views(graph const& g, vec<strided> const& order, vec<char>& moved, bool given) {
  vec<view> views(g.size());
  if (!given) moved = vec<char>(g.size(), 0);
  for (int i = 0; i < g.size(); ++i) {
    node const& n = g[i];
    view v{i, order[i], 0};
    if (n.op->kind == op_kind::view) {
      int const from = g.input(n, 0);
      view seen = views[from];
      bool const expressed = seen.at.offset >= 0 && n.op->restride(seen.at, g.info(from).dims, n.info.dims, n.at);
      if (!given) moved[i] = !expressed;
      if (!expressed) seen.at.offset = -1;
      if (!moved[i]) v = seen;
    } else if (n.op == &argument_info) {
      region const& body = g.regions[static_cast<int>(n.at.v[1])];
      int const k = static_cast<int>(n.at.v[0]);
      if (k >= body.carries) v = views[g.input(body.owner, k)];
      if (k >= body.carries + body.invariants) {
        if (v.step != 0) throw invalid("a repeat inside a repeat cannot be planned: its parameters would need two strides. FIX: unroll the inner one");
        shape const& all = g.info(g.input(body.owner, k)).dims;
        v.step = all.dim[0] == 1 ? n.info.count() : v.at.stride[0];
        for (int a = 1; a < all.rank; ++a) v.at.stride[a - 1] = v.at.stride[a];
        v.at.stride[all.rank - 1] = 0;
      }
    } else if (n.op == &result_info) {
      region const& body = g.regions[static_cast<int>(g[g.input(n, 0)].at.v[0])];
      int const k = static_cast<int>(n.at.v[0]);
      if (k < body.carries) {
        v.base = body.arguments[k];
      } else {  // stored slice by slice, each as the body stores it
        v.at = {};
        v.at.stride[0] = g.info(body.results[k]).count();
        strided const inner = is_computed(g[body.results[k]].op->kind) ? order[body.results[k]] : dense(g.info(body.results[k]).dims);
        for (int a = 1; a < n.info.dims.rank; ++a) v.at.stride[a] = inner.stride[a - 1];
      }
    }
    views[i] = v;
  }
  return views;
}

}  // namespace tx::passes
