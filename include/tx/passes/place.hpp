// Values that must lie somewhere particular: carries and slices of a repeat, operands of a flat block, replaced leaves.
// Where the value cannot be computed there at once, a copy is inserted that can.
#pragma once

#include <tx/ops/copy.hpp>
#include <tx/passes/stride.hpp>

namespace tx::passes {

enum class place_kind : std::uint8_t { own, carry, slice, within, replace };

// Where a node's value is stored. carry: over argument node `target`; slice: in the stacked value of result node `target`, per
// iteration; within: at element `offset` of gather_all node `target`; replace: over leaf `target`.
struct placement {
  place_kind kind = place_kind::own;
  int target = -1;
  std::int64_t offset = 0;
};

namespace detail {

// Extent of the innermost axis that is not 1; 1 where only a leading bounded one is left, whose elements are rows.
constexpr int innermost(shape const& s) {
  int i = s.rank - 1;
  while (i > 0 && s.dim[i] == 1) --i;
  return i < 0 || (i == 0 && s.tag && s.tag.axis == 0) ? 1 : s.dim[i];
}

// Through views that leave dense elements where they are.
constexpr int through_dense(graph const& g, int id) {
  while (g[id].op->kind == op_kind::view) {
    int const from = g.input(id, 0);
    strided s = dense(g.info(from).dims);
    if (g.info(from).count() != g.info(id).count() || !g[id].op->restride(s, g.info(from).dims, g.info(id).dims, g[id].at) ||
        !same_strides(s, dense(g.info(id).dims), g.info(id).dims))
      break;
    id = from;
  }
  return id;
}

}  // namespace detail

// Is it part of the parameters or of an optimizer's state?
constexpr bool in_block(graph const& g, int id) { return g[id].op == &block_info || g[id].op == &parameter_info; }

// Which stored nodes share elements: node -> itself, or the same leaf for all leaves of a flat block whose ranges overlap, each
// other or one in between.
constexpr vec<int> shared_storage(graph const& g) {
  struct range {
    std::int64_t block, first, end;
    int leaf;
  };
  vec<range> ranges{};
  vec<int> storage(g.size(), -1);
  for (int i = 0; i < g.size(); ++i) {
    storage[i] = i;
    if (!in_block(g, i)) continue;
    bool const state = g[i].op == &block_info;
    std::int64_t const first = g[i].at.v[state ? 1 : 0];
    ranges.push_back({state ? g[i].at.v[0] : 0, first, first + g.info(i).count(), i});
  }
  stable_sort(ranges, [](range const& a, range const& b) { return a.block != b.block ? a.block < b.block : a.first < b.first; });
  for (int k = 1; k < ranges.size(); ++k) {
    range const& before = ranges[k - 1];
    range& r = ranges[k];
    if (r.block != before.block || r.first >= before.end) continue;
    storage[r.leaf] = storage[before.leaf];
    if (r.end < before.end) r.end = before.end;
  }
  return storage;
}

// The graph with copies where placements need them.
constexpr graph insert_copies(graph const& from) {
  graph to{};
  to.reserve(from);
  to.numbers = from.numbers;
  to.random_streams = from.random_streams;
  to.training = from.training;
  to.sites = from.sites;
  to.regions = from.regions;
  vec<strided> const order = storage_order(from);
  vec<char> moved{};
  vec<view> const seen = resolve_views(from, order, moved, false);
  vec<int> map(from.size(), -1);
  vec<char> taken(from.size(), 0);
  int copies = 0;

  auto copy = [&](int value, int region_id) {
    int const saved = to.current;
    to.current = region_id;
    int const c = to.emit(&copy_info, &value, 1, attributes{{++copies}});
    to.current = saved;
    return c;
  };
  // Old node `id` may be computed right where it is wanted: once, dense, in the region that wants it.
  auto direct = [&](int id, int region_id, bool any_order) {
    node const& n = from[id];
    bool const computed = is_computed(n.op->kind) || (n.op == &result_info && from[from.input(n, 0)].region == n.region && !any_order &&
                          static_cast<int>(n.at.v[0]) >= from.regions[static_cast<int>(from[from.input(n, 0)].at.v[0])].carries);
    if (!computed || taken[id] || n.region != region_id) return false;
    if (!any_order && !same_strides(order[id], dense(n.info.dims), n.info.dims)) return false;
    taken[id] = 1;
    return true;
  };

  vec<int> in{};
  // Does a view show its base's elements where they lie?
  auto stays = [&](int id) {
    view const& v = seen[id];
    return v.step == 0 && from.info(id).count() == from.info(v.base).count() && same_strides(v.at, dense(from.info(id).dims), from.info(id).dims);
  };

  for (int i = 0; i < from.size(); ++i) {
    node const& n = from[i];
    to.current = n.region;
    to.when = n.when;
    to.site = n.site;
    in.clear();
    for (int k = 0; k < n.inputs; ++k) in.push_back(map[from.input(n, k)]);
    if (n.op == &repeat_info) {
      int const r = static_cast<int>(n.at.v[0]);
      region const& body = from.regions[r];
      region& now = to.regions[r];
      for (int k = body.carries; k < body.results.size(); ++k) {
        int const value = body.results[k];
        now.results[k] = direct(value, r, true) ? map[value] : copy(map[value], r);
      }
      // A carry may become another one, or its own elements in another order: those are read before any is overwritten.
      vec<int> next{};
      for (int k = 0; k < body.carries; ++k) {
        int const value = body.results[k];
        bool const carried = from[seen[value].base].op == &argument_info && !(seen[value].base == body.arguments[k] && stays(value));
        next.push_back(carried ? copy(map[value], r) : map[value]);
      }
      for (int k = 0; k < body.carries; ++k) {
        now.results[k] = copy(next[k], r);
        in[k] = copy(in[k], n.region);
      }
      for (int k = 0; k < body.arguments.size(); ++k) now.arguments[k] = map[body.arguments[k]];
    } else if (n.op->kind == op_kind::gather_all) {
      for (int k = 0; k < n.inputs; ++k) {
        int const value = detail::through_dense(from, from.input(n, k));
        in[k] = direct(value, n.region, false) ? map[value] : copy(in[k], n.region);
      }
    }
    // A view whose elements must move and whose rows are others than its operand's: the operand is made dense, then it is none.
    if (moved[i] && detail::innermost(n.info.dims) != detail::innermost(from.info(from.input(n, 0)).dims)) in[0] = copy(in[0], n.region);
    if (n.op->kind == op_kind::whole || n.op->kind == op_kind::collective) {  // these see dense operands only
      for (int k = 0; k < n.inputs; ++k) {
        int const value = detail::through_dense(from, from.input(n, k));
        op_kind const kind = from[value].op->kind;
        bool const stored = kind == op_kind::leaf || kind == op_kind::gather_all || kind == op_kind::result || is_computed(kind);
        if (!stored || !same_strides(order[value], dense(from.info(value).dims), from.info(value).dims)) in[k] = copy(in[k], n.region);
      }
    }
    map[i] = to.emit(n.op, in.data(), in.size(), n.at, n.info);
    if (n.op == &repeat_info) to.regions[static_cast<int>(n.at.v[0])].owner = map[i];
  }
  to.current = 0;
  to.site = 0;
  struct leaf_read {
    int node, operand;
    int before;  // the read before it of the same storage, -1 where there is none
  };
  vec<leaf_read> leaf_reads{};  // of what may be replaced
  vec<int> const storage = shared_storage(from);
  vec<int> last_read(from.size(), -1);  // of a storage
  auto read = [&](int node_id, int operand) {
    int const base = seen[operand].base;
    if (!in_block(from, base)) return;
    leaf_reads.push_back({node_id, operand, last_read[storage[base]]});
    last_read[storage[base]] = leaf_reads.size() - 1;
  };
  for (int i = 0; i < from.size(); ++i)
    for (int k = 0; k < from[i].inputs; ++k) read(i, from.input(i, k));
  for (output const& o : from.outputs) read(from.size(), o.value);  // copied out at the end
  // A leaf is replaced where the new value is computed only if that reads the old one element by element, and nobody later.
  auto still_read = [&](int value, int leaf) {
    for (int k = last_read[storage[leaf]]; k >= 0 && leaf_reads[k].node >= value; k = leaf_reads[k].before) {
      leaf_read const& r = leaf_reads[k];
      if (r.node > value || from[r.node].op->kind != op_kind::elementwise || seen[r.operand].base != leaf || !stays(r.operand)) return true;
    }
    return false;
  };
  // A flat block is handed out as it lies.
  auto flat_result = [&](output const& o, int value) {
    if (o.target >= 0 || from[value].op->kind != op_kind::gather_all || from[value].region != 0 || taken[value]) return false;
    taken[value] = 1;
    return true;
  };
  vec<int> values{};  // a leaf that becomes another one is read before any is overwritten
  for (output const& o : from.outputs) {
    bool const leaf = o.target >= 0 && from[seen[o.value].base].op->kind == op_kind::leaf;
    values.push_back(leaf ? copy(map[o.value], 0) : -1);
  }
  for (int k = 0; k < from.outputs.size(); ++k) {
    output const o = from.outputs[k];
    int const value = detail::through_dense(from, o.value);
    bool const here = values[k] < 0 && (o.target < 0 || !still_read(value, o.target)) && (direct(value, 0, false) || flat_result(o, value));
    int const now = here ? map[value] : copy(values[k] >= 0 ? values[k] : map[o.value], 0);
    to.outputs.push_back({now, o.kind, o.target < 0 ? -1 : map[o.target]});
  }
  return to;
}

// Where each node of such a graph is stored.
constexpr vec<placement> place_values(graph const& g) {
  vec<placement> places(g.size());
  for (int i = 0; i < g.size(); ++i) {
    node const& n = g[i];
    if (n.op == &repeat_info) {
      region const& body = g.regions[static_cast<int>(n.at.v[0])];
      for (int k = 0; k < body.carries; ++k) {
        places[g.input(n, k)] = {place_kind::carry, body.arguments[k], 0};
        places[body.results[k]] = {place_kind::carry, body.arguments[k], 0};
      }
    } else if (n.op == &result_info) {
      region const& body = g.regions[static_cast<int>(g[g.input(n, 0)].at.v[0])];
      int const k = static_cast<int>(n.at.v[0]);
      if (k >= body.carries) places[body.results[k]] = {place_kind::slice, i, 0};
    } else if (n.op->kind == op_kind::gather_all) {
      for (int k = 0; k < n.inputs; ++k)
        places[g.input(n, k)] = {place_kind::within, i, g.numbers[static_cast<int>(n.at.v[0]) + k]};
    }
  }
  for (output const& o : g.outputs)
    if (o.kind == output_kind::assign) places[o.value] = {place_kind::replace, o.target, 0};
  return places;
}

}  // namespace tx::passes
