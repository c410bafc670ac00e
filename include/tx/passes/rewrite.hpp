// Rebuilding a graph: what is dead is left behind, equal nodes meet, constants fold, and each op simplifies itself.
//
//   before   a = x * 1, b = x * x, c = transpose(transpose(b)), d = x * x, e = exp(c), result c + d
//   after    b = x * x, result b + b                          e is read by nobody; c is b; d equals b
#pragma once

#include <tx/core/math.hpp>
#include <tx/graph/leaf.hpp>
#include <tx/graph/order.hpp>
#include <tx/ops/broadcast.hpp>

namespace tx::passes {

// Nodes that an output needs.
constexpr vec<char> live_nodes(graph const& g, vec<int> const& order) {
  vec<char> all(g.size(), 0);
  char* const live = all.data();
  for (output const& o : g.outputs) {
    live[o.value] = 1;
    if (o.target >= 0) live[o.target] = 1;
  }
  for (int k = order.size() - 1; k >= 0; --k) {
    int const i = order[k];
    if (!live[i]) continue;
    node const& n = g[i];
    bool const has_results = g.has_results(i);
    for (int r = 0; has_results && r < n.op->results; ++r) live[i + 1 + r] = 1;  // its kernel makes all of them
    if (n.op == &result_info && !g.has_results(g.input(n, 0))) {
      int const owner = g.input(n, 0);
      live[owner] = 1;
      live[g.regions[run_region(g[owner].at)].results[result_number(n.at)]] = 1;
    } else if (n.op == &repeat_info) {
      region const& body = g.regions[run_region(n.at)];
      for (int c = 0; c < body.carries; ++c) live[body.arguments[c]] = live[body.results[c]] = live[g.input(n, c)] = 1;
    } else if (n.op == &argument_info) {
      live[g.input(g.regions[argument_region(n.at)].owner, argument_number(n.at))] = 1;
    } else {
      for (int in = 0; in < n.inputs; ++in) live[g.input(n, in)] = 1;
    }
  }
  return all;
}

namespace detail {

// The same value in every iteration of every region: a constant, a run-time scalar, or a node of the whole program.
constexpr bool is_outside(graph const& g, int id) {
  while (g[id].op->kind == op_kind::view) id = g.input(id, 0);
  return g[id].op->kind == op_kind::constant || (g[id].op == &scalar_info && g.info(id).count() == 1) || g.is_number_of_program(id);
}

constexpr int fold(graph& g, node const& n, int const* in) {
  if (n.op->fold == nullptr || n.inputs > 3) return -1;
  double values[3] = {};
  for (int k = 0; k < n.inputs; ++k) {
    if (!is_constant(g, in[k], values[k])) return -1;
    if (is_integer(g.info(in[k]).type) && !(math::constant::magnitude(values[k]) < 0x1p53)) return -1;
  }
  double value = n.op->fold(values);
  if (is_integer(n.info.type)) {
    if (!(math::constant::magnitude(value) < 0x1p53)) return -1;  // beyond, f64 skips numbers: the backend computes it
    auto const whole = static_cast<std::int64_t>(value);
    if (!holds(n.info.type, whole)) return -1;
    value = static_cast<double>(whole);
  }
  return broadcast_to(constant(g, n.info.type, value), n.info.dims).id;
}

}  // namespace detail

namespace detail {
struct as_it_is {
  constexpr int operator()(graph&, int, node&, vec<int>&) const { return -1; }
};

// Folds, and lets each op simplify itself.
struct simplification {
  constexpr int operator()(graph& to, int, node& n, vec<int>& in) const {
    // Numbers that do not change from iteration to iteration are computed once.
    if ((n.op->kind == op_kind::elementwise || n.op->kind == op_kind::view) && n.info.count() == 1) {
      bool outside = true;
      for (int k : in) outside = outside && to[k].region == 0 && is_outside(to, k);
      if (outside) n.region = to.current = 0;
    }
    int simpler = fold(to, n, in.data());
    if (simpler < 0 && n.op->simplify != nullptr) {
      simplify_context c{to, n.op, in.data(), in.size(), n.at, n.info};
      simpler = n.op->simplify(c);
    }
    return simpler >= 0 && (to[simpler].region == n.region || to[simpler].region == 0) ? simpler : -1;
  }
};
}  // namespace detail

// The graph without dead nodes. change(to, id, n, in) sees each of the others before it is emitted: the old id, a copy of the
// node and its new inputs. It may alter both, or return the id of what stands for the node; else -1.
template <class Change>
constexpr graph rewrite(graph const& from, Change const& change) {
  vec<int> const order = order_of_nodes(from);
  vec<char> const needed = live_nodes(from, order);
  char const* const live = needed.data();
  graph to{};
  to.reserve(from);
  to.numbers = from.numbers;
  to.take_program_facts(from);
  to.regions = from.regions;

  // Arguments and stacked results that nothing uses go; those that stay are numbered anew.
  vec<int> renumbered(from.size(), -1);        // argument node -> its new number
  vec<vec<int>> new_number(from.regions.size());  // region -> old result -> new
  for (int r = 1; r < from.regions.size(); ++r) {
    region const& old = from.regions[r];
    region& now = to.regions[r];
    now.invariants = now.stacked = 0;
    now.arguments.clear();
    now.results.clear();
    int next = 0;
    for (int k = 0; k < old.arguments.size(); ++k) {
      if (!live[old.arguments[k]] || !live[old.owner]) continue;
      renumbered[old.arguments[k]] = next++;
      if (k >= old.carries && k < old.carries + old.invariants) ++now.invariants;
      if (k >= old.carries + old.invariants) ++now.stacked;
    }
  }
  for (int r = 1; r < from.regions.size(); ++r) {
    region const& old = from.regions[r];
    vec<char> used(old.results.size(), 0);
    bool const runs = old.owner >= 0 && live[old.owner];  // else an earlier rewrite may have left no results
    for (int k = 0; runs && k < old.carries; ++k) used[k] = 1;
    if (runs)
      for (int i = old.owner + 1; i < from.size(); ++i)
        if (live[i] && from[i].op == &result_info && from.input(i, 0) == old.owner) used[result_number(from[i].at)] = 1;
    int next = 0;
    for (int k = 0; k < old.results.size(); ++k) new_number[r].push_back(used[k] ? next++ : -1);
  }

  vec<int> standing(from.size(), -1);  // old node -> the one that stands for it
  int* const map = standing.data();
  vec<int> in{};
  for (int i : order) {
    if (!live[i]) continue;
    node n = from[i];
    to.current = n.region;
    to.when = n.when;
    to.site = n.site;
    in.clear();
    if (n.op == &argument_info) {
      n.at = of_argument(renumbered[i], argument_region(n.at));
    } else if (n.op == &repeat_info) {
      region const& body = from.regions[run_region(n.at)];
      for (int k = 0; k < n.inputs; ++k)
        if (renumbered[body.arguments[k]] >= 0) in.push_back(map[from.input(n, k)]);
    } else {
      for (int k = 0; k < n.inputs; ++k) in.push_back(map[from.input(n, k)]);
      if (n.op == &result_info && !from.has_results(from.input(n, 0))) n.at = of_result(new_number[run_region(from[from.input(n, 0)].at)][result_number(n.at)]);
    }
    if (n.op->kind == op_kind::constant || n.op == &scalar_info) n.region = to.current = 0;
    map[i] = change(to, i, n, in);
    if (map[i] < 0) map[i] = to.emit(n.op, in.data(), in.size(), n.at, n.info);
  }
  for (int r = 1; r < from.regions.size(); ++r) {
    region const& old = from.regions[r];
    to.regions[r].owner = old.owner >= 0 ? map[old.owner] : -1;
    if (to.regions[r].owner < 0) continue;
    for (int a : old.arguments)
      if (renumbered[a] >= 0) to.regions[r].arguments.push_back(map[a]);
    for (int k = 0; k < old.results.size(); ++k)
      if (new_number[r][k] >= 0) to.regions[r].results.push_back(map[old.results[k]]);
  }
  for (output o : from.outputs) to.outputs.push_back({map[o.value], o.kind, o.target < 0 ? -1 : map[o.target]});
  to.current = 0;
  to.site = 0;
  return to;
}

// To a fixed point in practice: rules feed each other at most a few levels deep. `before` is asked first in the first round, as
// expand.hpp is, which saves a round of its own.
template <class Before = detail::as_it_is>
constexpr graph simplify(graph const& g, Before const& before = {}) {
  detail::simplification const change{};
  auto const both = [&](graph& to, int id, node& n, vec<int>& in) {
    int const other = before(to, id, n, in);
    return other >= 0 ? other : change(to, id, n, in);
  };
  return rewrite(rewrite(rewrite(g, both), change), detail::as_it_is{});
}

}  // namespace tx::passes
