// From a drawn program to a graph as a front end records it: narrowed, in mixed precision, differentiated, updated.
#pragma once

#include "build.hpp"

#include <tx/autodiff/recompute.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/passes/mixed.hpp>
#include <tx/passes/narrow.hpp>
#include <tx/train/accumulate.hpp>
#include <tx/train/adagrad.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/rmsprop.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/updates.hpp>

namespace drawn {

struct recorded {
  graph g{};
  std::vector<tx::node> inputs;  // as the graph declares them; those it does not have hold nothing
  std::vector<int> sizes;        // elements of each block
  dtype type = dtype::f64;
  row_count rows{};
};

namespace detail {

constexpr void update_by(int optimizer, tx::gradient_site& site, std::int64_t first, int rank) {
  using namespace tx;
  switch (optimizer) {
    case 0: return tx::detail::append_update<sgd>(site, first, 0, rank);
    case 1: return tx::detail::append_update<sgd_with<sgd_options{.momentum = 0.5}>>(site, first, 0, rank);
    case 2: return tx::detail::append_update<adamw>(site, first, 0, rank);
    case 3: return tx::detail::append_update<lamb>(site, first, 0, rank);
    case 4: return tx::detail::append_update<rmsprop>(site, first, 0, rank);
    default: return tx::detail::append_update<adagrad>(site, first, 0, rank);
  }
}
constexpr bool sees_whole_tensors(int optimizer) { return optimizer == 3; }

// As train_step does where nothing needs all gradients together: each is used up where it is complete.
struct updating final : tx::gradient_user {
  int optimizer = 0;
  constexpr explicit updating(int which) : optimizer(which) {}
  constexpr bool wants(tx::node const&) const override { return true; }
  constexpr void use(tx::gradient_site& site) override {
    site.g->when = tx::phase::update;
    int const rank = (*site.g)[site.parameter].info.dims.rank;
    update_by(optimizer, site, (*site.g)[site.parameter].at.v[0], rank - (site.value.dims().rank < rank ? 1 : 0));
    site.g->when = tx::phase::backward;
  }
  constexpr ~updating() = default;
};

struct parameter_list {
  vec<int> leaves{};
  std::int64_t elements = 0;
};
constexpr parameter_list parameters_of(graph const& g) {
  parameter_list all{};
  for (int i = 0; i < g.size(); ++i) {
    if (g[i].op != &tx::parameter_info) continue;
    all.leaves.push_back(i);
    std::int64_t const end = g[i].at.v[0] + g.info(i).count();
    all.elements = end > all.elements ? end : all.elements;
  }
  return all;
}

// As train_step does where their norm, or their sum over shards, is needed before any parameter moves.
constexpr void update_from_flat(graph& g, finish const& end, graph& one, bool of_shards, bool clips, vec<char> const& again) {
  graph& source = of_shards ? one : g;
  parameter_list const all = parameters_of(source);
  vec<int> const found = tx::gradients(source, source.outputs[0].value, all.leaves, nullptr, again);
  if (source.no_gradient.op != nullptr) throw tx::invalid("an op without a gradient");
  vec<int> ids{};
  vec<std::int64_t> first{};
  for (int k = 0; k < found.size(); ++k)
    if (found[k] >= 0) ids.push_back(found[k]), first.push_back(source[all.leaves[k]].at.v[0]);
  if (ids.empty()) throw tx::invalid("nothing to train");
  dtype const type = source.info(all.leaves[0]).type;
  std::int64_t const rows = (all.elements + tx::block_row - 1) / tx::block_row;
  struct placed {
    std::int64_t first = 0;
    tx::value_info info{};
    attributes at{};
  };
  vec<placed> tensors{};
  for (int l : all.leaves) tensors.push_back({source[l].at.v[0], source.info(l), source[l].at});
  auto const flatten = [&](vec<int> const& of) { return tx::detail::flat_gradient(g, of, first, rows * tx::block_row); };
  tx::dist::division const d{end.several_ranks ? 2 : 1, end.shards, true};
  var const gradient = of_shards ? tx::dist::append_shards(g, d, one, ids, flatten) : flatten(ids);
  g.when = tx::phase::update;
  var scale{};
  if (clips) {
    var const norm = tx::sqrt(tx::sum_all(gradient * gradient));
    g.outputs.push_back({norm.id, tx::output_kind::result, -1});
    scale = tx::minimum(tx::cast(tx::run_time_scalar(g, tx::scalar::clip_norm), norm.type()) / (norm + 1e-6), 1.0);
  }
  auto const part = [&](std::int64_t from, shape const& s) {
    var const own = tx::detail::part_of_flat(gradient, from, s);
    return scale.valid() ? own * scale : own;
  };
  if (sees_whole_tensors(end.optimizer)) {
    for (placed const& t : tensors) {
      tx::detail::outer_site site(g, tx::emit_leaf(g, tx::parameter_info, t.info, t.at).id, part(t.first, t.info.dims));
      update_by(end.optimizer, site, t.first, t.info.dims.rank);
    }
  } else {
    shape const block_rows{2, {}, {static_cast<int>(rows), tx::block_row}};
    tx::detail::outer_site site(g, tx::emit_leaf(g, tx::block_info, {type, block_rows}, attributes{{0, 0}}).id, part(0, block_rows));
    update_by(end.optimizer, site, 0, -1);
  }
}

constexpr graph trained(graph g, finish const& end) {
  if (g.outputs.empty() || g.info(g.outputs[0].value).count() != 1) throw tx::invalid("no loss");
  parameter_list const all = parameters_of(g);
  if (all.leaves.empty()) throw tx::invalid("nothing to train");
  tx::recomputation again{};
  if (end.recomputes) again = tx::choose_recomputed(g, g.outputs[0].value, all.leaves, 64);
  int const results = g.outputs.size();
  if (end.mode == training::at_once) {
    updating user(end.optimizer);
    tx::gradients(g, g.outputs[0].value, all.leaves, &user, again.again);
  } else if (end.mode == training::accumulated) {
    tx::detail::sum_at_once user(1);
    tx::gradients(g, g.outputs[0].value, all.leaves, &user, again.again);
  } else if (end.mode == training::clipped) {
    update_from_flat(g, end, g, false, true, again.again);
  } else {
    graph whole{};
    update_from_flat(whole, end, g, true, end.optimizer % 2 == 0, again.again);
    return whole;
  }
  if (g.no_gradient.op != nullptr) throw tx::invalid("an op without a gradient");
  if (g.outputs.size() == results) throw tx::invalid("nothing is trained");
  return g;
}

}  // namespace detail

// What is done with a graph when it is recorded.
constexpr graph finished(graph g, finish const& end) {
  if (end.narrows) g = tx::passes::narrow(g);
  if (end.halves != 0) g = tx::passes::mixed(g, end.halves == 1 ? dtype::bf16 : dtype::f16);
  if (end.mode != training::none) g = detail::trained(g, end);
  return g;
}

// A graph and what a run of it needs: arguments, and blocks as long as any leaf reaches.
inline recorded with_leaves(graph g, dtype type, row_count rows) {
  recorded r{std::move(g), {}, std::vector<int>(8, 0), type, rows};
  if (r.g.outputs.empty()) throw tx::invalid("a program without results");
  for (int i = 0; i < r.g.size(); ++i) {
    tx::node const& n = r.g[i];
    if (n.op == &tx::input_info) {
      auto const k = static_cast<std::size_t>(n.at.v[0]);
      if (r.inputs.size() <= k) r.inputs.resize(k + 1, tx::node{.info = {dtype::f64, shape{1}}});
      r.inputs[k] = n;
    } else if (n.op == &tx::block_info || n.op == &tx::parameter_info) {
      bool const state = n.op == &tx::block_info;
      int& size = r.sizes[static_cast<std::size_t>(state ? n.at.v[0] : 0)];
      size = std::max(size, static_cast<int>(n.at.v[state ? 1 : 0] + n.info.count()));
    }
  }
  return r;
}

inline recorded record(program const& p, row_count rows) { return with_leaves(finished(build(p, rows)->g, p.end), p.type, rows); }

}  // namespace drawn
