// How parameters are updated from their gradients: each where its gradient is complete, or group by group from a flat block, tensor
// by tensor for optimizers that look at whole ones.
#pragma once

#include <tx/autodiff/reverse.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/gather_all.hpp>
#include <tx/ops/slice.hpp>
#include <tx/train/optimizer.hpp>

namespace tx::detail {

// The parameters that are trained.
template <class Model>
constexpr vec<int> parameter_leaves(graph const& g) {
  vec<int> leaves{};
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == &parameter_info && g[i].at.v[0] < layout<Model>::trained) leaves.push_back(i);
  return leaves;
}

// Gradients as one flat block of rows of block_row elements; first[k]: where number k starts.
constexpr var flat_gradient(graph& g, vec<int> const& ids, vec<std::int64_t> const& first, std::int64_t count) {
  attributes const at{{g.numbers.size(), count / block_row}};
  for (std::int64_t f : first) g.numbers.push_back(f);
  return {&g, g.emit(&gather_all_info, ids.data(), ids.size(), at)};
}

// The optimizer's update of what a site shows: elements from `first` on, of a parameter group. own_rank: axes of a tensor, without
// those of repeats, -1 for rows of many.
template <class Optimizer>
constexpr void append_update(gradient_site& site, std::int64_t first, int group, int own_rank) {
  graph& g = *site.g;
  g.when = phase::update;
  auto scalar_of = [&](scalar s, int k = 0) { return cast(run_time_scalar(g, s, k), site.value.type()); };
  update_context u{};
  u.parameter = site.value;
  u.gradient = site.gradient;
  int state[max_states] = {};
  u.state.count = Optimizer::states;
  for (int s = 0; s < Optimizer::states; ++s) u.state[s] = site.leaf(block_info, attributes{{1 + s, first}}, state[s]);
  u.rate = scalar_of(scalar::group_rates, 2 * group);
  u.decay = scalar_of(scalar::group_rates, 2 * group + 1);
  u.step = scalar_of(scalar::step);
  if (sees_whole_tensors<Optimizer>) u.own_rank = own_rank;
  auto fits = [&](var const& next) { return next.valid() && next.info() == site.value.info(); };
  var const next = Optimizer::update(u);
  if (!fits(next))
    throw invalid("an optimizer's update returns another shape or type than the parameter's. FIX: the parameter's next value, computed element by element; what norm() gives broadcasts");
  site.assign(site.parameter, next);
  for (int s = 0; s < Optimizer::states; ++s) {
    if (!fits(u.state[s]))
      throw invalid("an optimizer's update stores a state of another shape or type than the parameter's. FIX: a number for each element in each u.state[k]");
    site.assign(state[s], u.state[s]);
  }
}

// Updates all parameters of a group together, from a flat gradient of its rows.
template <class Model, class Optimizer>
constexpr void update_group(graph& g, int k, var gradient) {
  layout_group const& group = layout<Model>::groups[k];
  value_info const rows{layout<Model>::type, shape{2, {}, {static_cast<int>(group.count / block_row), block_row}}};
  outer_site site(g, emit_leaf(g, block_info, rows, attributes{{0, group.first}}).id, gradient);
  append_update<Optimizer>(site, group.first, k, -1);
}

// Updates one parameter, with the blocks of a repeat on its leading axes.
template <class Model, class Optimizer>
constexpr void update_tensor(graph& g, int k, var gradient) {
  layout_entry const& e = layout<Model>::entries[k];
  outer_site site(g, emit_leaf(g, parameter_info, e.info, attributes{{e.offset, k}}).id, gradient);
  append_update<Optimizer>(site, e.offset, e.group, e.rank);
}

// Updates all parameters; gradient_of(first, dims): that of the elements from `first` on, as dims.
template <class Model, class Optimizer, class Gradient>
constexpr void update_all(graph& g, Gradient const& gradient_of) {
  if constexpr (sees_whole_tensors<Optimizer>) {
    for (int k = 0; k < layout<Model>::entries.size(); ++k) {
      layout_entry const& e = layout<Model>::entries[k];
      if (!layout<Model>::groups[e.group].trained) continue;
      update_tensor<Model, Optimizer>(g, k, gradient_of(e.offset, e.info.dims));
    }
  } else {
    for (int k = 0; k < layout<Model>::groups.size(); ++k) {
      layout_group const& group = layout<Model>::groups[k];
      if (!group.trained) continue;
      update_group<Model, Optimizer>(g, k, gradient_of(group.first, shape{2, {}, {static_cast<int>(group.count / block_row), block_row}}));
    }
  }
}

// Elements of a flat block [rows, block_row] from `first` on, as dims.
constexpr var part_of_flat(var flat, std::int64_t first, shape dims) {
  if (dims.rank == 2 && dims.dim[1] == block_row && first % block_row == 0) return slice(flat, 0, static_cast<int>(first / block_row), dims.dim[0], 1);
  var const line = reshape(flat, shape{1, {}, {static_cast<int>(flat.info().count())}});
  return reshape(slice(line, 0, static_cast<int>(first), static_cast<int>(dims.count()), 1), dims);
}

// Updates each parameter where its gradient is complete. Groups of vectors alone are small: those are updated together. Where the
// gradient's norm is asked for, each leaves its sum of squares.
template <class Model, class Optimizer>
struct update_at_once final : gradient_user {
  vec<char> updated = vec<char>(layout<Model>::entries.size(), 0);
  vec<char> together = vec<char>(layout<Model>::groups.size(), 1);

  bool measures;
  vec<int> squares{};  // values that add up to the square of the norm

  constexpr explicit update_at_once(bool norm_too) : measures(norm_too) {
    for (layout_entry const& e : layout<Model>::entries)
      if (e.rank > 1 || sees_whole_tensors<Optimizer>) together[e.group] = 0;
  }
  constexpr bool wants(node const& leaf) const override { return !together[entry(leaf).group]; }
  constexpr void use(gradient_site& site) override {
    site.g->when = phase::update;
    if (measures) site.hand_out(sum_all(site.gradient * site.gradient), squares);
    attributes const at = (*site.g)[site.parameter].at;  // first element, entry of the layout
    updated[static_cast<int>(at.v[1])] = 1;
    layout_entry const& e = entry((*site.g)[site.parameter]);
    append_update<Optimizer>(site, at.v[0], e.group, e.rank);
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
      var const flat = flat_gradient(g, ids, first, layout<Model>::groups[k].count);
      if (measures) squares.push_back(sum_all(flat * flat).id);
      update_group<Model, Optimizer>(g, k, flat);
      for (int e = 0; e < updated.size(); ++e)
        if (layout<Model>::entries[e].group == k) updated[e] = 1;
    }
    bool any = false;
    for (char u : updated) any = any || u;
    for (int k = 0; k < updated.size() && any; ++k) {
      layout_entry const& e = layout<Model>::entries[k];
      if (updated[k] || !layout<Model>::groups[e.group].trained) continue;
      g.when = phase::update;
      update_tensor<Model, Optimizer>(g, k, broadcast_to(constant(g, e.info.type, 0), e.info.dims));
    }
  }
  // Of the gradient of all parameters; once all are updated.
  constexpr var norm(graph& g) const {
    g.when = phase::update;
    var sum{};
    for (int id : squares) sum = sum.valid() ? sum + sum_all({&g, id}) : sum_all({&g, id});
    return sqrt(sum);
  }
  constexpr ~update_at_once() = default;

 private:
  static constexpr layout_entry const& entry(node const& leaf) { return layout<Model>::entries[static_cast<int>(leaf.at.v[1])]; }
};

}  // namespace tx::detail
