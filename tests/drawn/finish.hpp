// From a drawn program to a graph as a front end records it: narrowed, in mixed precision, differentiated, updated.
#pragma once

#include "build.hpp"

#include <tx/autodiff/recompute.hpp>
#include <tx/dist/overlap.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/divided_parameters.hpp>
#include <tx/passes/mixed.hpp>
#include <tx/passes/narrow.hpp>
#include <tx/passes/quarters.hpp>
#include <tx/passes/sink.hpp>
#include <tx/train/accumulate.hpp>
#include <tx/train/accumulate_runs.hpp>
#include <tx/train/adafactor.hpp>
#include <tx/train/adagrad.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/clip.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/novograd.hpp>
#include <tx/train/rmsprop.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/updates.hpp>

namespace drawn {

struct recorded {
  graph g{};
  graph asked{};                 // before what is made of gradients has moved: says what g computes
  std::vector<tx::node> inputs;  // as the graph declares them; those it does not have hold nothing
  std::vector<int> sizes;        // elements of each block
  dtype type = dtype::f64;
  row_count rows{};
};

namespace detail {

// With epsilons that keep what rounding leaves of a gradient of zeros from becoming a step.
using factored = tx::adafactor_with<tx::adafactor_options{.epsilon1 = 0.01}>;
// A number that is known before the loop, summed along rows of it.
struct by_rows {
  static constexpr int states = 0;
  static constexpr bool whole_tensors = true;
  static constexpr var update(tx::update_context& u) {
    shape const all = u.gradient.dims();
    if (u.own_rank == 0 || all.last() == 0) return u.parameter - u.decayed_gradient() * u.rate;
    var const share = tx::sum<-1>(tx::broadcast_to(u.rate, all)) * (1.0 / all.last());
    return u.parameter - u.decayed_gradient() * tx::broadcast_to(share, all);
  }
};
using by_norm = tx::novograd_with<tx::adam_options{.beta1 = 0.95, .beta2 = 0.98, .epsilon = 0.1}>;

constexpr void update_by(int optimizer, graph& g, var leaf, var gradient, std::int64_t first, int rank, int runs, tx::tensor_portion update = {}) {
  using namespace tx;
  // States of less than a number for each element begin where those would: there is room, but for a tensor of none.
  tx::detail::updated_leaf const of{
      .first = first, .own_rank = rank, .share = {}, .starts = {{first, first}}, .runs = runs, .update = update};
  if (optimizer > 5 && leaf.info().count() == 0) optimizer = 2;
  switch (optimizer) {
    case 0: return tx::detail::append_update<sgd>(g, leaf, gradient, of);
    case 1: return tx::detail::append_update<sgd_with<sgd_options{.momentum = 0.5}>>(g, leaf, gradient, of);
    case 2: return tx::detail::append_update<adamw>(g, leaf, gradient, of);
    case 3: return tx::detail::append_update<lamb>(g, leaf, gradient, of);
    case 4: return tx::detail::append_update<rmsprop>(g, leaf, gradient, of);
    case 5: return tx::detail::append_update<adagrad>(g, leaf, gradient, of);
    case 6: return tx::detail::append_update<factored>(g, leaf, gradient, of);
    case 7: return tx::detail::append_update<by_rows>(g, leaf, gradient, of);
    default: return tx::detail::append_update<by_norm>(g, leaf, gradient, of);
  }
}
constexpr bool sees_whole_tensors(int optimizer) { return optimizer == 3 || optimizer > 5; }

// Of an update; the numbers of a run say that it is the third, which is the last of three and not of two.
constexpr int runs_of(finish const& end) {
  bool const can = end.mode == training::at_once || end.mode == training::clipped;
  return can && end.shards == 3 ? 2 + end.optimizer % 2 : 1;
}

constexpr vec<int> parameters_of(graph const& g) {
  vec<int> leaves{};
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == &tx::parameter_info) leaves.push_back(i);
  return leaves;
}
constexpr int own_rank(graph const& g, int leaf) {
  int const rank = g.info(leaf).dims.rank;
  for (tx::region const& r : g.regions)
    for (int k = r.carries + r.invariants; r.owner >= 0 && k < r.arguments.size(); ++k)
      if (g.input(r.owner, k) == leaf) return rank - 1;  // its leading axis is that of a repeated block
  return rank;
}

// All gradients in rows of one flat block, as train_step has them by groups.
struct flat_rows {
  std::int64_t elements = 0;
  dtype type = dtype::f64;

  constexpr int count() const { return static_cast<int>((elements + tx::block_row - 1) / tx::block_row); }
  constexpr vec<tx::output> operator()(graph& g, vec<tx::output> const& all) const {
    vec<tx::output> list{};
    vec<int> ids{};
    vec<std::int64_t> first{};
    for (tx::output const& o : all) {
      if (o.kind != tx::output_kind::gradient) {
        list.push_back(o);
        continue;
      }
      ids.push_back(o.value);
      first.push_back(g[o.target].at.v[0]);
    }
    g.when = tx::step_phase::update;
    var const rows = tx::emit_leaf(g, tx::block_info, {type, shape{2, {}, {count(), tx::block_row}}}, attributes{{0, 0}});
    list.push_back({tx::detail::flat_gradient(g, ids, first, std::int64_t{count()} * tx::block_row).id, tx::output_kind::gradient, rows.id});
    return list;
  }
};

struct placed {
  std::int64_t first = 0;
  tx::value_info info{};
  attributes at{};
  int own_rank = 0;
};

// What two ranks divide of what is trained: nothing where an optimizer looks at whole tensors, else states, gradients too, or parameters too.
constexpr int zero_of(finish const& end) {
  bool const can = end.mode == training::sharded && end.several_ranks && !sees_whole_tensors(end.optimizer);
  return can ? 1 + (end.optimizer + 2 * end.recomputes + end.narrows) % 3 : 0;
}

// As dist/gradient_facts.hpp says it of a model: a parameter, or rows of many of which every rank keeps all.
class facts {
 public:
  constexpr facts(vec<placed> const& tensors, int zero) : tensors_(tensors), zero_(zero) {}
  constexpr bool divides_parameters() const { return zero_ == 3; }
  constexpr int own_rank(tx::node const& leaf) const {
    for (placed const& t : tensors_)
      if (leaf.op == &tx::parameter_info && t.at == leaf.at && t.info == leaf.info) return t.own_rank;
    return 2;
  }
  constexpr std::int64_t tensors(tx::node const&) const { return 1; }
  constexpr tx::tensor_portion of_state(tx::node const& leaf, tx::across which) const {
    int const own = own_rank(leaf), axis = leaf.info.dims.rank - own;
    bool const can = zero_ > 0 && which == tx::across::batches && leaf.op == &tx::parameter_info && own > 1 && axis >= 0;
    if (!can || leaf.info.dims.is_bounded(axis) || leaf.info.dims.dim[axis] <= 1) return {};
    return {axis, {2, tx::across::batches}, leaf.info.dims.dim[axis]};
  }
  constexpr tx::tensor_portion of_parameter(tx::node const& leaf, tx::across which) const { return zero_ == 3 ? of_state(leaf, which) : tx::tensor_portion{}; }
  constexpr tx::tensor_portion of_update(tx::node const& leaf) const { return zero_ == 3 ? tx::tensor_portion{} : of_state(leaf, tx::across::batches); }
  constexpr tx::value_info portion(tx::value_info info, int entry, tx::across which) const { return zero_ == 3 && which == tx::across::batches ? kept(info, entry) : info; }
  // Nobody else divides what one kind of ranks does.
  constexpr bool divides(int, tx::across) const { return false; }
  constexpr tx::value_info parameter(int) const { return {}; }
  constexpr std::int64_t first(int) const { return 0; }
  constexpr tx::value_info kept(tx::value_info info, int entry) const {
    for (placed const& t : tensors_) {
      int const axis = info.dims.rank - t.own_rank;
      if (tx::parameter_entry(t.at) != entry || !(t.info == info) || axis < 0 || axis >= info.dims.rank) continue;
      info.dims.set(axis, static_cast<int>(tx::rows_of_rank(info.dims.dim[axis], 2)));
      break;
    }
    return info;
  }
  constexpr std::int64_t first_state(tx::node const& leaf) const { return tx::detail::first_updated(leaf); }

 private:
  vec<placed> const& tensors_;
  int zero_;
};

// As train_step does: gradients, what is made of them one after the other, the update, and into repeated blocks with it.
constexpr graph trained(graph g, finish const& end) {
  if (g.outputs.empty() || g.info(g.outputs[0].value).count() != 1) throw tx::invalid("no loss");
  vec<placed> tensors{};
  flat_rows flat{};
  for (int l : parameters_of(g)) {
    tensors.push_back({g[l].at.v[0], g.info(l), g[l].at, own_rank(g, l)});
    std::int64_t const to = g[l].at.v[0] + g.info(l).count();
    flat.elements = to > flat.elements ? to : flat.elements;
    flat.type = g.info(l).type;
  }
  if (tensors.empty()) throw tx::invalid("nothing to train");
  int const zero = zero_of(end);
  facts const of(tensors, zero);
  if (zero == 3) tx::dist::divide_parameters(g, of, tx::across::batches);
  vec<int> const leaves = parameters_of(g);
  tx::recomputation again{};
  if (end.recomputes) again = tx::choose_recomputed(g, g.outputs[0].value, leaves, 64);
  vec<int> const found = tx::gradients(g, g.outputs[0].value, leaves, again.again);
  if (g.no_gradient.op != nullptr) throw tx::invalid("an op without a gradient");
  bool any = false;
  for (int k = 0; k < found.size(); ++k) {
    if (found[k] < 0) continue;
    g.outputs.push_back({found[k], tx::output_kind::gradient, leaves[k]});
    any = true;
  }
  if (!any) throw tx::invalid("nothing is trained");
  if (zero == 3) tx::dist::gather_parameters(g);
  if (end.quarters) g = tx::passes::quarters(g, [](tx::node const&) { return true; });
  bool const in_parts = end.mode == training::accumulated || (end.mode == training::sharded && end.optimizer > 2);
  if (in_parts) g = tx::detail::averaged_over_parts(g, 1 + end.shards);
  if (end.mode == training::sharded) {
    tx::batch_division const division{.ranks = end.several_ranks ? 2 : 1, .shards = end.shards, .given = true, .zero = zero};
    auto const gather = [&](graph& all, vec<tx::output> const& outputs) { return zero == 0 && end.optimizer % 4 < 2 ? flat(all, outputs) : outputs; };
    auto const joined = [&](graph& all, vec<tx::output> const& outputs) { return zero == 0 ? flat(all, outputs) : outputs; };
    if (end.several_ranks && end.shards == 1) tx::dist::average_over_ranks(g, division, gather, of);
    else g = tx::dist::averaged_over_shards(g, division, joined, of);
  }
  int const runs = runs_of(end);
  if (runs > 1) tx::detail::add_to_earlier_runs(g, runs, 2, of);  // no optimizer here has more states
  if (end.mode == training::clipped || (end.mode == training::sharded && end.optimizer % 2 == 0)) {
    var const norm = tx::detail::norm_of_gradients(g, end.mode == training::sharded, of);
    g.outputs.push_back({norm.id, tx::output_kind::result, -1});
    tx::detail::clip(g, norm);
  }
  vec<tx::output> const all = g.outputs;
  g.outputs.clear();
  for (tx::output const& o : all)
    if (o.kind != tx::output_kind::gradient) g.outputs.push_back(o);
  for (tx::output const& o : all) {
    if (o.kind != tx::output_kind::gradient) continue;
    var const gradient{&g, o.value}, leaf{&g, o.target};
    bool const rows = g[o.target].op == &tx::block_info;
    if (rows && sees_whole_tensors(end.optimizer)) {
      for (placed const& t : tensors)
        update_by(end.optimizer, g, tx::emit_leaf(g, tx::parameter_info, t.info, t.at), tx::detail::part_of_flat(gradient, t.first, t.info.dims), t.first, t.info.dims.rank, runs);
      continue;
    }
    int own = -1;
    for (placed const& t : tensors)
      if (!rows && t.first == g[o.target].at.v[0] && t.info == g.info(o.target)) own = t.own_rank;
    tx::node const what = g[o.target];
    if (of.of_parameter(what, tx::across::batches)) update_by(end.optimizer, g, tx::emit_leaf(g, tx::block_info, of.kept(what.info, tx::parameter_entry(what.at)), tx::of_block(0, what.at.v[0])), gradient, what.at.v[0], own, runs);
    else update_by(end.optimizer, g, leaf, gradient, rows ? 0 : what.at.v[0], own, runs, of.of_update(what));
  }
  return g;
}

}  // namespace detail

// What is done with a graph when it is recorded; passes::sink comes after it.
constexpr graph finished(graph g, finish const& end) {
  if (end.narrows) g = tx::passes::narrow(g);
  if (end.halves != 0) g = tx::passes::mixed(g, end.halves == 1 ? dtype::bf16 : dtype::f16);
  if (end.mode != training::none) g = detail::trained(g, end);
  return g;
}

// How long each flat block must be for the leaves of a graph.
inline void fit_blocks(recorded& r, graph const& g) {
  for (int i = 0; i < g.size(); ++i) {
    tx::node const& n = g[i];
    if (n.op != &tx::block_info && n.op != &tx::parameter_info) continue;
    bool const state = n.op == &tx::block_info;
    int& size = r.sizes[static_cast<std::size_t>(state ? n.at.v[0] : 0)];
    size = std::max(size, static_cast<int>(n.at.v[state ? 1 : 0] + n.info.count()));
  }
}

// A graph and what a run of it needs: arguments, and blocks as long as any leaf reaches.
inline recorded with_leaves(graph g, dtype type, row_count rows) {
  recorded r{g, std::move(g), {}, std::vector<int>(8, 0), type, rows};
  tx::passes::sink(r.g);
  if (r.g.size() % 3 != 0) tx::dist::overlap(r.g, 1);
  if (r.g.outputs.empty()) throw tx::invalid("a program without results");
  for (int i = 0; i < r.asked.size(); ++i) {
    tx::node const& n = r.asked[i];
    if (n.op != &tx::input_info) continue;
    auto const k = static_cast<std::size_t>(n.at.v[0]);
    if (r.inputs.size() <= k) r.inputs.resize(k + 1, tx::node{.info = {dtype::f64, shape{1}}});
    r.inputs[k] = n;
  }
  fit_blocks(r, r.asked);
  return r;
}

// Blocks have room for all leaves of the program, also for those that are read by nothing once it is finished: which those are may
// depend on the number of rows.
inline recorded record(program const& p, row_count rows) {
  auto const built = build(p, rows);
  recorded r = with_leaves(finished(built->g, p.end), p.type, rows);
  fit_blocks(r, built->g);
  return r;
}

}  // namespace drawn
