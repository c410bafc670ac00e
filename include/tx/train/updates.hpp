// How parameters are updated from their gradients: each where its gradient is complete, or group by group from a flat block.
#pragma once

#include <tx/autodiff/reverse.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/gather_all.hpp>
#include <tx/train/adamw.hpp>

namespace tx::detail {

constexpr vec<int> parameter_leaves(graph const& g) {
  vec<int> leaves{};
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == &parameter_info) leaves.push_back(i);
  return leaves;
}

// Gradients as one flat block of rows of block_row elements; first[k]: where number k starts.
constexpr var flat_gradient(graph& g, vec<int> const& ids, vec<std::int64_t> const& first, std::int64_t count) {
  attributes const at{{g.numbers.size(), count / block_row}};
  for (std::int64_t f : first) g.numbers.push_back(f);
  return {&g, g.emit(&gather_all_info, ids.data(), ids.size(), at)};
}

// The optimizer's update of what a site shows: elements from `first` on, of a parameter group.
template <class Optimizer>
constexpr void append_update(gradient_site& site, std::int64_t first, int group) {
  graph& g = *site.g;
  g.when = phase::update;
  auto scalar_of = [&](scalar s, int k = 0) { return cast(run_time_scalar(g, s, k), site.value.type()); };
  update_context u{};
  u.parameter = site.value;
  u.gradient = site.gradient;
  int state[4] = {};
  for (int s = 0; s < Optimizer::states; ++s) u.state[s] = site.leaf(block_info, attributes{{1 + s, first}}, state[s]);
  u.rate = scalar_of(scalar::group_rates, 2 * group);
  u.decay = scalar_of(scalar::group_rates, 2 * group + 1);
  u.step = scalar_of(scalar::step);
  site.assign(site.parameter, Optimizer::update(u));
  for (int s = 0; s < Optimizer::states; ++s) site.assign(state[s], u.state[s]);
}

// Updates all parameters of a group together, from a flat gradient of its rows.
template <class Model, class Optimizer>
constexpr void update_group(graph& g, int k, var gradient) {
  layout_group const& group = layout<Model>::groups[k];
  value_info const rows{layout<Model>::type, shape{2, {}, {static_cast<int>(group.count / block_row), block_row}}};
  outer_site site(g, emit_leaf(g, block_info, rows, attributes{{0, group.first}}).id, gradient);
  append_update<Optimizer>(site, group.first, k);
}

// Updates each parameter where its gradient is complete. Groups of vectors alone are small: those are updated together.
template <class Model, class Optimizer>
struct update_at_once final : gradient_user {
  vec<char> updated = vec<char>(layout<Model>::entries.size(), 0);
  vec<char> together = vec<char>(layout<Model>::groups.size(), 1);

  constexpr update_at_once() {
    for (layout_entry const& e : layout<Model>::entries)
      if (e.rank > 1) together[e.group] = 0;
  }
  constexpr bool wants(node const& leaf) const override { return !together[entry(leaf).group]; }
  constexpr void use(gradient_site& site) override {
    attributes const at = (*site.g)[site.parameter].at;  // first element, entry of the layout
    updated[static_cast<int>(at.v[1])] = 1;
    append_update<Optimizer>(site, at.v[0], entry((*site.g)[site.parameter]).group);
    site.g->when = phase::backward;
  }
  // Groups of vectors, and parameters that the loss does not depend on: those decay, as they do where all are updated together.
  constexpr void finish(graph& g, vec<int> const& leaves, vec<int> const& grads) {
    for (int k = 0; k < together.size(); ++k) {
      if (!together[k]) continue;
      vec<int> ids{};
      vec<std::int64_t> first{};
      for (int i = 0; i < leaves.size(); ++i) {
        if (grads[i] < 0 || entry(g[leaves[i]]).group != k) continue;
        ids.push_back(grads[i]);
        first.push_back(g[leaves[i]].at.v[0] - layout<Model>::groups[k].first);
      }
      if (ids.empty()) continue;
      g.when = phase::update;
      update_group<Model, Optimizer>(g, k, flat_gradient(g, ids, first, layout<Model>::groups[k].count));
      for (int e = 0; e < updated.size(); ++e)
        if (layout<Model>::entries[e].group == k) updated[e] = 1;
    }
    bool any = false;
    for (char u : updated) any = any || u;
    for (int k = 0; k < updated.size() && any; ++k) {
      if (updated[k]) continue;
      layout_entry const& e = layout<Model>::entries[k];
      int const leaf = emit_leaf(g, parameter_info, e.info, attributes{{e.offset, k}}).id;
      outer_site site(g, leaf, broadcast_to(constant(g, e.info.type, 0), e.info.dims));
      use(site);
    }
  }
  constexpr ~update_at_once() = default;

 private:
  static constexpr layout_entry const& entry(node const& leaf) { return layout<Model>::entries[static_cast<int>(leaf.at.v[1])]; }
};

}  // namespace tx::detail
