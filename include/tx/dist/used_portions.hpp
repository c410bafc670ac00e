// Where ranks divide products, of some parameters each uses its portion of one axis alone. It keeps that alone (expr/state_portions.hpp), and a graph has no more of it.
//
//   recorded   parameter w [12, 768, 3072], of which a block uses own_rows(slice of w)
//   in use     parameter w [12, 768, 1536], of which it uses a slice
#pragma once

#include <tx/dist/gradient_facts.hpp>
#include <tx/dist/uneven_parts.hpp>
#include <tx/graph/change.hpp>
#include <tx/graph/leaf.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::dist {

// The axis of an entry's tensor, without those of repeats, of which each rank uses its portion alone, in a graph whose products are divided; -1: it uses all.
template <class Model>
class used_portions {
 public:
  static constexpr int entries = layout<Model>::entries.size();

  constexpr explicit used_portions(graph const& g) : g_(g), entry_(g.size(), -1) {
    for (int k = 0; k < entries; ++k) found_[k] = unused;
    for (int id = 0; id < g.size(); ++id)
      if (g[id].op == &parameter_info) entry_[id] = parameter_entry(g[id].at);
    for (int loops = 1; loops <= max_loops; ++loops)  // what bodies see of them
      for (int r = 1; r < g.regions.size(); ++r)
        if (region const& body = g.regions[r]; body.owner >= 0 && g.loops_around(r) == loops)
          for (int k = body.carries + body.invariants; k < body.arguments.size(); ++k) entry_[body.arguments[k]] = entry_[g.input(body.owner, k)];
    for (int id = 0; id < g.size(); ++id)
      for (int k = 0; k < g[id].inputs; ++k) use(id, k);
    for (region const& r : g.regions)
      for (int value : r.results) whole(value);
    for (output const& o : g.outputs) whole(o.value);
  }
  // Of matrices that are trained, as vectors are small.
  constexpr int axis_of(int entry) const {
    layout_entry const& e = layout<Model>::entries[entry];
    return e.rank > 1 && layout<Model>::trains(e) && found_[entry] >= 0 ? found_[entry] : -1;
  }
  // The parameter that a value is, or is a slice of; -1: it is none.
  constexpr int entry_shown(int id) const { return entry_[id]; }

 private:
  static constexpr int unused = -2;

  constexpr void use(int id, int k) {
    int const in = g_.input(id, k);
    if (entry_[in] < 0) return;
    if (g_[id].op == &repeat_info) {
      region const& body = g_.regions[run_region(g_[id].at)];
      if (k >= body.carries + body.invariants) return;  // the body says
    }
    if (g_[id].op != &own_rows_info) return whole(in);
    int const own = tx::detail::divided_axis::of(g_[id].at).axis - (g_.info(in).dims.rank - layout<Model>::entries[entry_[in]].rank);
    found(entry_[in], own);
  }
  constexpr void whole(int id) {
    if (entry_[id] >= 0) found(entry_[id], -1);
  }
  constexpr void found(int entry, int axis) { found_[entry] = found_[entry] == unused || found_[entry] == axis ? axis : -1; }

  graph const& g_;
  vec<int> entry_;  // of the layout, that a value shows blocks of; -1: it does not
  int found_[entries > 0 ? entries : 1] = {};
};

// Of a recorded forward pass: parameters of which ranks keep portions, and which it uses so, are those.
template <class Model>
constexpr void use_portions(graph& g, tx::detail::gradient_facts<Model> const& facts) {
  used_portions<Model> const used(g);
  vec<tensor_portion> portion(g.size());  // of what shows a parameter
  for (int id = 0; id < g.size(); ++id) {
    int const entry = used.entry_shown(id);
    if (entry < 0 || used.axis_of(entry) < 0) continue;
    tensor_portion const kept = facts.divided_by_products(entry);
    if (kept.axis != used.axis_of(entry)) continue;
    portion[id] = kept;
    portion[id].axis += g.info(id).dims.rank - layout<Model>::entries[entry].rank;
    g.nodes[id].info.dims.set(portion[id].axis, static_cast<int>(rows_of_rank(kept.rows, kept.ranks.count)));
  }
  for (int id = 0; id < g.size(); ++id) {
    tensor_portion const of = g[id].op == &own_rows_info ? portion[g.input(id, 0)] : tensor_portion{};
    if (!of) continue;
    bool const has_rest = of.rows % of.ranks.count != 0 && !tx::detail::divided_axis::of(g[id].at).zeros_behind;
    if (!has_rest) {
      replace_everywhere(g, id, g.input(id, 0));
      continue;
    }
    g.nodes[id].op = &own_gradient_info;
    g.nodes[id].at = tx::detail::divided_axis{of.axis, of.ranks, of.rows}.coded();
  }
  g = passes::rewrite(g, passes::detail::as_it_is{});
}

// Once that is differentiated: gradients are by parameters as the layout has them.
template <class Facts>
constexpr void name_whole_parameters(graph& g, Facts const& facts) {
  g.current = 0;
  for (int k = 0; k < g.outputs.size(); ++k) {
    if (g.outputs[k].kind != output_kind::gradient) continue;
    node const leaf = g[g.outputs[k].target];
    int const named = emit_leaf(g, parameter_info, facts.whole(leaf.info, parameter_entry(leaf.at), across::products), leaf.at).id;
    g.outputs[k].target = named;
  }
}

}  // namespace tx::dist
