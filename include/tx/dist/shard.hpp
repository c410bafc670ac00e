// A recorded graph as one shard of a larger one: it becomes a region that runs once. Nodes of different regions are
// never merged, so shards are compiled to the same kernels in the same order, on one rank or on many.
//
//   one       l = mean(matmul(x, w))                                 x [8, 16]
//   two of it r1: l1 = mean(matmul(slice<0, 0, 8>(X), w)),           X [16, 16]
//             r2: l2 = mean(matmul(slice<0, 8, 8>(X), w)), l = (l1 + l2) / 2
#pragma once

#include <tx/expr/layout.hpp>
#include <tx/graph/numbers_read.hpp>
#include <tx/graph/order.hpp>
#include <tx/ops/random.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/slice.hpp>

namespace tx::dist {

namespace detail {

// A leaf of `one` as the shard sees it: parameters are shared, an argument is cut along its leading axis.
constexpr int shard_leaf(graph& g, node const& n, int shard, int shards) {
  value_info info = n.info;
  if (n.op != &input_info || shards == 1) return emit_leaf(g, *n.op, info, n.at).id;
  if (info.dims.rank == 0 || info.dims.tag)
    throw invalid("virtual_shards: an argument needs a fixed leading axis that can be cut. FIX: give it the batch as its first axis");
  int const each = info.dims.dim[0];
  info.dims.dim[0] *= shards;
  return slice(emit_leaf(g, *n.op, info, n.at), 0, shard * each, each, 1).id;
}

// Arguments and parameters are handed to the shard, wherever in `one` they were asked for.
constexpr bool is_handed_in(graph const& one, int id) { return one[id].op == &input_info || one[id].op == &parameter_info; }

// Numbers of the program that a region's body reads: in the shard they are values of another region, and are handed in.
constexpr bool is_of_body(graph const& one, int region_id, int id) { return one[id].region == region_id && !is_handed_in(one, id); }
constexpr vec<vec<int>> numbers_read_inside(graph const& one) {
  return tx::detail::read_from_outside(one, [&](int region_id, int id) { return is_of_body(one, region_id, id); });
}

}  // namespace detail

// Appends `one` to g as shard number `shard` of `shards`; returns the ids in g of its `values`.
constexpr vec<int> append_shard(graph& g, graph const& one, vec<int> const& values, int shard, int shards) {
  int const home = g.current;
  int const first = g.regions.size();  // region k of `one` becomes first + k
  for (region const& from : one.regions) {
    region r = from;
    r.parent = from.parent + first;
    r.arguments.clear();
    r.results.clear();
    g.regions.push_back(r);
  }
  g.regions[first].parent = home;
  g.training = one.training;
  g.random_streams = one.random_streams;
  g.sites = one.sites;
  g.settings = one.settings;
  int const numbers = g.numbers.size();
  for (std::int64_t n : one.numbers) g.numbers.push_back(n);

  vec<int> map(one.size(), -1);
  vec<int> inputs{};
  vec<int> leaves{};
  for (int i = 0; i < one.size(); ++i) {
    if (!detail::is_handed_in(one, i)) continue;
    leaves.push_back(i);
    inputs.push_back(detail::shard_leaf(g, one[i], shard, shards));
  }
  for (int k = 0; k < leaves.size(); ++k) {
    g.current = first;
    map[leaves[k]] = emit_leaf(g, argument_info, one.info(leaves[k]), attributes{{k, first}}).id;
    g.regions[first].arguments.push_back(map[leaves[k]]);
  }
  g.regions[first].invariants = leaves.size();

  // Numbers handed into a body are the last of its invariants.
  vec<vec<int>> const numbers_read = detail::numbers_read_inside(one);
  vec<vec<int>> handed_in(one.regions.size());  // region -> the argument of each such number
  auto const first_stacked = [&](int r) { return one.regions[r].carries + one.regions[r].invariants; };
  for (int r = 1; r < one.regions.size(); ++r) {
    handed_in[r] = vec<int>(numbers_read[r].size(), -1);
    g.regions[first + r].invariants += numbers_read[r].size();
  }
  auto const seen_from = [&](int reader, int id) {
    vec<int> around{};  // the bodies that hand it in, from the inside
    for (int r = reader; r != 0 && !detail::is_of_body(one, r, id); r = one.regions[r].parent) around.push_back(r);
    int const here = g.current;
    int seen = map[id];
    for (int a = around.size() - 1; a >= 0; --a) {  // each is given what the one around it has
      int const r = around[a];
      int k = 0;
      while (numbers_read[r][k] != id) ++k;
      g.current = first + r;
      if (handed_in[r][k] < 0)
        handed_in[r][k] = emit_leaf(g, argument_info, one.info(id), attributes{{first_stacked(r) + k, first + r}}).id;
      seen = handed_in[r][k];
    }
    g.current = here;
    return seen;
  };

  for (int i : order_of_nodes(one)) {
    if (map[i] >= 0) continue;
    node const& n = one[i];
    attributes at = n.at;
    if (n.op == &argument_info) {
      auto const r = static_cast<int>(at.v[1]);
      if (at.v[0] >= one.regions[r].carries) seen_from(one.regions[r].parent, one.input(one.regions[r].owner, static_cast<int>(at.v[0])));
      if (at.v[0] >= first_stacked(r)) at.v[0] += numbers_read[r].size();
      at.v[1] += first;
    }
    if (n.op == &repeat_info) at.v[0] += first;
    if (n.op == &random_info) at.v[1] = shard;
    if (n.op->kind == op_kind::gather_all) at.v[0] += numbers;
    g.current = first + n.region;
    g.when = n.when;
    g.site = n.site;
    vec<int> in{};
    for (int k = 0; k < n.inputs; ++k) in.push_back(seen_from(n.region, one.input(n, k)));
    if (n.op == &repeat_info) {
      auto const r = static_cast<int>(n.at.v[0]);
      region const& body = one.regions[r];
      vec<int> all{};
      for (int k = 0; k < first_stacked(r); ++k) all.push_back(in[k]);
      for (int id : numbers_read[r]) all.push_back(seen_from(n.region, id));
      for (int k = first_stacked(r); k < n.inputs; ++k) all.push_back(in[k]);
      in = all;
      for (int id : body.results) g.regions[first + r].results.push_back(seen_from(r, id));
      vec<int>& arguments = g.regions[first + r].arguments;
      for (int k = 0; k < first_stacked(r); ++k) arguments.push_back(map[body.arguments[k]]);
      for (int id : handed_in[r]) arguments.push_back(id);
      for (int k = first_stacked(r); k < body.arguments.size(); ++k) arguments.push_back(map[body.arguments[k]]);
    }
    map[i] = g.emit(n.op, in.data(), in.size(), at, n.info);
    if (n.op == &repeat_info) g.regions[static_cast<int>(at.v[0])].owner = map[i];
  }

  // What the shard hands out has a leading axis of its one iteration.
  shape const once{1, {}, {1}};
  for (int v : values) g.regions[first].results.push_back(map[v]);
  g.current = home;
  g.site = 0;
  int const owner = g.emit(&repeat_info, inputs.data(), inputs.size(), attributes{{first}},
                           tx::detail::stacked(one.info(values[0]), once));
  g.regions[first].owner = owner;
  vec<int> out{};
  for (int k = 0; k < values.size(); ++k) {
    value_info const& info = one.info(values[k]);
    int const result = g.emit(&result_info, &owner, 1, attributes{{k}}, tx::detail::stacked(info, once));
    out.push_back(reshape(var{&g, result}, info.dims).id);
  }
  return out;
}

}  // namespace tx::dist
