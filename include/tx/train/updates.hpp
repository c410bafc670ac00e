// The update as a pass: gradients, outputs of the graph, become the next values of the parameters and of the optimizer's states.
//
//   before   gradient g by w
//   after    m' = 0.9 * m + g and w' = w - rate * m' replace m and w
//
// Tensor by tensor, or all rows of a group where its gradients have been gathered; tensor by tensor again for optimizers that look at whole
// ones. Where repeated blocks make the gradient, passes/sink.hpp puts the update there.
#pragma once

#include <tx/dist/reduce_scatter.hpp>
#include <tx/expr/setting.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/train/accumulate_runs.hpp>
#include <tx/dist/gradient_facts.hpp>
#include <tx/train/gradients.hpp>
#include <tx/train/layer_decay.hpp>
#include <tx/train/optimizer.hpp>

namespace tx::detail {

// What the rates of all groups are multiples of; see run/settings.hpp.
constexpr void declare_learning_rate(graph& g) { declare_setting(g, declared_setting{"learning_rate", 1e-3f, is_rate, "a finite number, at least 0"}); }

// Where what an optimizer keeps of a leaf begins, in each state that is not laid out as the parameters are.
struct state_starts {
  std::int64_t of[max_states] = {};
};

struct updated_leaf {
  std::int64_t first = 0;  // in states that have a number for each of its elements
  int group = 0;           // of parameters
  int own_rank = -1;       // axes of a tensor, without those of repeats; -1: rows of many
  var share{};             // of the group's rate, a number or one for each block of a repeat; not valid: all of it
  state_starts starts{};
  int runs = 1;            // of which the last one updates
  var finite{};            // a scalar bool: are all gradients? Else nothing is updated. Not valid: nobody has looked
  tensor_portion update{};  // of which each of some ranks updates a portion
  tensor_portion portion{};  // of a parameter of which no rank has more
};

template <class Optimizer>
constexpr void append_update(graph& g, var leaf, var gradient, updated_leaf const& of) {
  constexpr state_kinds kinds = Optimizer::states;
  g.when = step_phase::update;
  auto scalar_of = [&](scalar s, int k = 0) { return cast(run_time_scalar(g, s, k), leaf.type()); };
  bool const divided(of.update);
  var const own = divided ? own_rows(leaf, of.update.axis, of.update.ranks) : leaf;
  update_context u{};
  u.parameter = own;
  u.gradient = divided && gradient.info() == leaf.info() ? own_rows(gradient, of.update.axis, of.update.ranks) : gradient;
  u.state.count = Optimizer::states;
  int state[max_states] = {};
  for (int s = 0; s < Optimizer::states; ++s) {
    per const kind = kinds.of(s);
    u.state.none[s] = !has_state(kind, of.own_rank);
    if (u.state.none[s]) continue;
    value_info const info = kind == per::element ? own.info() : state_info(kind, own.info(), of.own_rank);
    u.state[s] = emit_leaf(g, block_info, info, of_block(1 + s, kind == per::element ? of.first : of.starts.of[s]));
    state[s] = u.state[s].id;
  }
  u.rate = scalar_of(scalar::group_rates, 2 * of.group);
  if (of.share.valid()) u.rate = u.rate * cast(of.share, leaf.type());
  u.decay = scalar_of(scalar::group_rates, 2 * of.group + 1);
  place_among_runs place = place_of_run(g, of.runs);
  if (of.finite.valid()) place.last = place.last.valid() ? logical_and(place.last, of.finite) : of.finite;
  u.step = cast(place.update, leaf.type());
  if (sees_whole_tensors<Optimizer>) u.own_rank = of.own_rank;
  u.portion = divided ? of.update : of.portion;
  auto fits = [&](var const& next, var const& like) { return next.valid() && next.info() == like.info(); };
  var const next = Optimizer::update(u);
  if (!fits(next, own))
    throw invalid("an optimizer's update returns another shape or type than the parameter's. FIX: the parameter's next value, computed element by element; what norm() gives broadcasts");
  var const updated = changed_by_update(place, next, own);
  var const all = divided ? all_gather(updated, of.update.axis, of.update.ranks, leaf.dims().dim[of.update.axis]) : updated;
  g.outputs.push_back(output{all.id, output_kind::assign, leaf.id});
  for (int s = 0; s < Optimizer::states; ++s) {
    if (u.state.none[s]) continue;
    bool const kept = fits(u.state[s], {&g, state[s]});
    // Two lines of their own: clang shows of a throw its first line alone.
    if (!kept && kinds.of(s) == per::element)
      throw invalid("an optimizer's update stores a state of another shape or type than the parameter's. FIX: a number for each element in each u.state[k]");
    if (!kept) throw invalid("an optimizer's update stores a state of another shape or type than it keeps. FIX: in u.state[k] the extents that it had");
    g.outputs.push_back({changed_by_update(place, u.state[s], {&g, state[s]}).id, output_kind::assign, state[s]});
  }
}

// Is each tensor updated by itself, also where it is small?
template <class Optimizer>
constexpr bool updates_apart(step_options const& options) {
  return sees_whole_tensors<Optimizer> || options.decays_by_layer;
}
// Groups of vectors alone are small: those are updated together.
template <class Model, class Optimizer>
constexpr bool updates_together(step_options const& options, int group) {
  return !updates_apart<Optimizer>(options) && layout<Model>::only_vectors(group);
}

// Of a leaf that begins at element `first` of the parameters, all blocks of a repeat, a part of them or one.
template <class Model, class Optimizer>
constexpr state_starts starts_of_states(int entry, std::int64_t first) {
  constexpr state_kinds kinds = Optimizer::states;
  state_starts starts{};
  if constexpr (!kinds.only_elements()) {
    layout_entry const& e = layout<Model>::entries[entry];
    for (int s = 0; s < kinds; ++s) {
      std::int64_t const own = state_info(kinds.of(s), e.info, e.rank).count();
      std::int64_t const before = first == e.offset ? 0 : (first - e.offset) / (e.info.count() / own);
      starts.of[s] = place_in_state<Model>(kinds.of(s), entry) + before;
    }
  }
  return starts;
}

// Of a parameter of which ranks keep portions, each tensor of which several have a portion: of the blocks of a pipeline they have whole tensors.
template <class Facts>
constexpr tensor_portion portion_of_parameter(Facts const& facts, node const& leaf) {
  for (across const which : {across::products, across::batches})
    if (tensor_portion const p = facts.of_parameter(leaf, which)) return p;
  return {};
}

// Uses up all gradients, where they are finite. Parameters that the loss does not depend on are updated too: they decay.
template <class Model, class Optimizer>
constexpr void update_parameters(graph& g, step_options const& options, gradient_facts<Model> const& facts, var finite = {}) {
  using of_model = layout<Model>;
  declare_learning_rate(g);
  layer_shares<Model> const shares(g, options);
  bool const apart = updates_apart<Optimizer>(options);
  vec<output> const all = g.outputs;
  g.outputs.clear();
  struct done {
    std::int64_t first = 0, count = 0;  // elements of an entry; of a peeled repeat its first blocks, or its last, may be all that has a gradient
  };
  vec<done> updated(of_model::entries.size());
  // A parameter with the blocks of a repeat on its leading axes, or some of those, or one.
  auto const update_leaf = [&](var leaf, var gradient) {
    node const what = g[leaf.id];
    int const k = parameter_entry(what.at);
    layout_entry const& e = of_model::entries[k];
    std::int64_t const first = parameter_first(what.at);
    value_info const kept = facts.kept(what.info, k);
    if (facts.divides_parameters() && kept != what.info) leaf = emit_leaf(g, block_info, kept, of_block(0, first));  // no rank has more of it
    append_update<Optimizer>(g, leaf, gradient,
                             {facts.first_state(what), e.group, e.rank, shares.of(g, leaf, k), starts_of_states<Model, Optimizer>(k, first), options.runs, finite, facts.of_update(what),
                              portion_of_parameter(facts, what)});
    std::int64_t const count = what.info.count();
    updated[k] = {updated[k].count == 0 || first < updated[k].first ? first : updated[k].first, updated[k].count + count};
  };
  auto const zeros = [&](value_info const& of) { return broadcast_to(constant(g, of.type, 0), of.dims); };
  auto const update_tensor = [&](int k, var gradient) {
    layout_entry const& e = of_model::entries[k];
    update_leaf(emit_leaf(g, parameter_info, e.info, of_parameter(e.offset, k)), gradient);
  };
  auto const update_rows = [&](int leaf, var gradient) {
    for (int k = 0; k < of_model::groups.size(); ++k) {
      layout_group const& group = of_model::groups[k];
      if (group.first != block_first(g[leaf].at) || group.count != g.info(leaf).count()) continue;
      node const what = g[leaf];
      if (!apart)
        append_update<Optimizer>(g, {&g, leaf}, gradient, {.first = facts.first_state(what), .group = k, .runs = options.runs, .finite = finite, .update = facts.of_update(what)});
      for (int e = 0; e < of_model::entries.size(); ++e) {
        layout_entry const& entry = of_model::entries[e];
        if (entry.group != k) continue;
        if (apart) update_tensor(e, part_of_flat(gradient, entry.offset - group.first, entry.info.dims));
        updated[e] = {entry.offset, entry.info.count()};
      }
      return;
    }
  };
  for (output const& o : all)
    if (o.kind != output_kind::gradient) g.outputs.push_back(o);
  g.when = step_phase::update;
  for (output const& o : all) {
    if (o.kind != output_kind::gradient) continue;
    if (g[o.target].op == &block_info) update_rows(o.target, {&g, o.value});
    else update_leaf({&g, o.target}, {&g, o.value});
  }
  // What the loss does not depend on: rows where that is a whole group, else tensors.
  for (int group = 0; group < of_model::groups.size(); ++group) {
    if (!of_model::groups[group].trained) continue;
    bool none = !apart;
    for (int k = 0; k < of_model::entries.size(); ++k) none = none && !(of_model::entries[k].group == group && updated[k].count > 0);
    if (none) {
      var const rows = rows_of_group(g, of_model::groups[group], of_model::type);
      update_rows(rows.id, zeros(rows.info()));
    }
    for (int k = 0; k < of_model::entries.size(); ++k) {
      layout_entry const& e = of_model::entries[k];
      std::int64_t const rest = e.info.count() - updated[k].count;
      if (e.group != group || rest == 0) continue;
      value_info info = e.info;
      if (updated[k].count > 0) info.dims.dim[0] = static_cast<int>(rest / (e.info.count() / e.info.dims.dim[0]));
      bool const behind = updated[k].count > 0 && updated[k].first == e.offset;
      update_leaf(emit_leaf(g, parameter_info, info, of_parameter(e.offset + (behind ? updated[k].count : 0), k)), zeros(facts.kept(info, k)));
    }
  }
}

}  // namespace tx::detail
