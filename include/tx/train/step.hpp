// train_step<Model, loss, optimizer, options...>: loss, backward, clipping and update as one program.
#pragma once

#include <tx/autodiff/recompute.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/exec/function.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/slice.hpp>
#include <tx/passes/mixed.hpp>
#include <tx/train/accumulate.hpp>
#include <tx/train/options.hpp>

#include <limits>

namespace tx {

// A loss that returns a scalar alone hands back an aggregate with this one member.
template <class T>
struct loss_result {
  T loss;
};

namespace detail {

constexpr void no_parameter(graph const& g) {
  if (g.no_gradient.op == nullptr) throw invalid("train_step: the loss depends on no parameter");
}

// The gradients of the parameters that a loss depends on, and where each belongs in the flat block.
struct gradient_list {
  vec<int> ids{};
  vec<std::int64_t> first{};
};
constexpr gradient_list parameter_gradients(graph& g, int loss, vec<char> const& again) {
  vec<int> const leaves = parameter_leaves(g);
  vec<int> const grads = gradients(g, loss, leaves, nullptr, again);
  gradient_list list{};
  for (int i = 0; i < leaves.size(); ++i) {
    if (grads[i] < 0) continue;
    list.ids.push_back(grads[i]);
    list.first.push_back(g[leaves[i]].at.v[0]);
  }
  if (list.ids.empty()) no_parameter(g);
  return list;
}

}  // namespace detail

template <class Model, auto Loss, class Optimizer, class... Options>
struct train_step {
  using model = Model;
  using call = callable<std::remove_cvref_t<decltype(Loss)>, Model>;
  static constexpr dist::division division = dist::division_of<Options...>;
  using result = std::conditional_t<typed_handle<typename call::result>, loss_result<typename call::result>, typename call::result>;
  static constexpr int states = Optimizer::states;
  static constexpr detail::step_options options = detail::options_of<Options...>();
  static constexpr int parts = options.parts;
  static constexpr int sums_block = 1 + states;  // of gradients over the parts of a batch: behind the optimizer's states
  static_assert(parts == 1 || !division.given, "tx::train_step: accumulate<N> and a division over shards or ranks do not go together yet");
  using arguments = dist::arguments_of_shards<division.shards * parts, typename call::arguments>;

  // The whole step as a graph (of a part of a batch without the update), with activations of about so many bytes; -1: everything is
  // kept that is worth it.
  static constexpr recomputation record(graph& g, std::int64_t activations = -1) {
    graph one{};  // a shard of the batch, or all of it
    graph& recorded = division.given ? one : g;
    trace<Model, Loss>(recorded);
    recorded = passes::narrow(recorded);
    if (options.mixes) recorded = passes::mixed(recorded, options.half);
    verify(recorded);
    recomputation again{};
    if (activations >= 0)
      again = choose_recomputed(recorded, recorded.outputs[0].value, detail::parameter_leaves(recorded), activations);
    if constexpr (parts > 1) {
      detail::sum_at_once user(sums_block);
      int const results = g.outputs.size();
      gradients(g, g.outputs[0].value, detail::parameter_leaves(g), &user, again.again);
      if (g.outputs.size() == results) detail::no_parameter(g);
    } else if constexpr (options.clips || division.given) {
      record_flat_update(g, one, recorded, again.again);
    } else {  // nothing needs all gradients together
      detail::update_at_once<Model, Optimizer> user{};
      vec<int> const leaves = detail::parameter_leaves(g);
      int const results = g.outputs.size();
      user.finish(g, leaves, gradients(g, g.outputs[0].value, leaves, &user, again.again));
      if (g.outputs.size() == results) detail::no_parameter(g);
    }
    return again;
  }
  // All gradients first: their norm, or their sum over shards and ranks, is needed before any parameter moves.
  static constexpr void record_flat_update(graph& g, graph& one, graph& recorded, vec<char> const& again) {
    auto const list = detail::parameter_gradients(recorded, recorded.outputs[0].value, again);
    g.no_gradient = recorded.no_gradient;
    if (g.no_gradient.op != nullptr) return;
    auto flatten = [&](vec<int> const& ids) { return detail::flat_gradient(g, ids, list.first, layout<Model>::size); };
    var const gradient = division.given ? dist::append_shards(g, division, one, list.ids, flatten) : flatten(list.ids);
    g.when = phase::update;
    var scale{};
    if constexpr (options.clips) {
      var const norm = sqrt(sum_all(gradient * gradient));
      scale = minimum(cast(run_time_scalar(g, scalar::clip_norm), norm.type()) / (norm + 1e-6), 1.0);
    }
    for (int k = 0; k < layout<Model>::groups.size(); ++k) {
      layout_group const& group = layout<Model>::groups[k];
      var const own = slice(gradient, 0, static_cast<int>(group.first / block_row), static_cast<int>(group.count / block_row), 1);
      detail::update_group<Model, Optimizer>(g, k, scale.valid() ? own * scale : own);
    }
  }

  struct source {
    static constexpr exec::lowered lower() {
      for (std::int64_t wanted = options.activations < 0 ? -1 : std::numeric_limits<std::int64_t>::max();;) {
        graph g{};
        recomputation const again = record(g, wanted);
        exec::lowered l = exec::compile(g, options.compile);
        l.memory.recomputed_flops = again.flops;
        std::int64_t const over = l.memory.activations - options.activations;
        if (options.activations < 0 || over <= 0 || !again.more || wanted == 0) return l;
        wanted = again.kept > over ? again.kept - over : 0;  // that is an estimate, the plan is not
      }
    }
  };
  struct program : exec::program<source> {
    static_assert(detail::activations_fit<options.activations, exec::program<source>::memory.activations>,
                  "tx::recompute: the activations do not fit the budget, whatever is computed again: the numbers are budget and smallest plan. "
                  "FIX: recompute<the second number>, or a smaller batch");
  };
  // What follows the parts of a batch.
  struct update_source {
    static constexpr exec::lowered lower() {
      graph g{};
      detail::record_update_from_sums<Model, Optimizer>(g, sums_block, parts, options.clips);
      return exec::compile(g, options.compile);
    }
  };
  using update_program = exec::program<update_source>;

  static constexpr exec::memory_use memory = [] {
    exec::memory_use m = exec::with_parameters<Model>(program::memory, states);
    if constexpr (parts > 1) {  // the sums of gradients lie beside the arena that both programs use
      exec::memory_use const& u = update_program::memory;
      auto const most = [](std::int64_t a, std::int64_t b) { return a > b ? a : b; };
      m.gradients += m.parameters;
      m.workspace = most(m.workspace, u.workspace);
      m.largest_live = most(m.largest_live, u.largest_live) + m.parameters;
      m.arena = most(m.arena, u.arena) + m.parameters;
      m.peak = m.parameters + m.optimizer + m.arena;
      m.recomputed_flops *= parts;
    }
    return m;
  }();
};

}  // namespace tx
