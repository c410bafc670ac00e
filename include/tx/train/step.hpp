// train_step<Model, loss, optimizer, options...>: loss, backward, clipping and update as one program.
#pragma once

#include <tx/autodiff/reverse.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/exec/function.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/gather_all.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/slice.hpp>
#include <tx/train/adamw.hpp>

namespace tx {

// Options of a step; tx/dist has more.
struct clip_gradient {};  // scales the gradient down to run_settings::clip_norm
template <compile_options Options>
struct compiled_with {};

// A loss that returns a scalar alone hands back an aggregate with this one member.
template <class T>
struct loss_result {
  T loss;
};

namespace detail {

template <class Option>
struct options_in {
  static constexpr compile_options value{};
  static constexpr bool given = false;
};
template <compile_options O>
struct options_in<compiled_with<O>> {
  static constexpr compile_options value = O;
  static constexpr bool given = true;
};

// The gradients of the parameters that a loss depends on, and where each belongs in the flat block.
struct gradient_list {
  vec<int> ids{};
  vec<std::int64_t> first{};
};
constexpr gradient_list parameter_gradients(graph& g, int loss) {
  vec<int> leaves{};
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == &parameter_info) leaves.push_back(i);
  vec<int> const grads = gradients(g, loss, leaves);
  gradient_list list{};
  for (int i = 0; i < leaves.size(); ++i) {
    if (grads[i] < 0) continue;
    list.ids.push_back(grads[i]);
    list.first.push_back(g[leaves[i]].at.v[0]);
  }
  if (list.ids.empty() && g.no_gradient.op == nullptr) throw invalid("train_step: the loss depends on no parameter");
  return list;
}

// Gradients of all parameters as one flat block, [rows, block_row].
template <class Model>
constexpr var flat_gradient(graph& g, vec<int> const& ids, vec<std::int64_t> const& first) {
  attributes const at{{g.numbers.size(), layout<Model>::size / block_row}};
  for (std::int64_t f : first) g.numbers.push_back(f);
  return {&g, g.emit(&gather_all_info, ids.data(), ids.size(), at)};
}

template <class Model, class Optimizer>
constexpr void append_update(graph& g, var gradient, var scale) {
  constexpr dtype type = layout<Model>::type;
  auto scalar_of = [&](scalar s, int k = 0) { return cast(run_time_scalar(g, s, k), type); };
  for (int k = 0; k < layout<Model>::groups.size(); ++k) {
    layout_group const& group = layout<Model>::groups[k];
    shape const rows{2, {}, {static_cast<int>(group.count / block_row), block_row}};
    auto leaf = [&](int block) { return emit_leaf(g, block_info, {type, rows}, attributes{{block, group.first}}); };
    update_context u{};
    u.parameter = leaf(0);
    u.gradient = slice(gradient, 0, static_cast<int>(group.first / block_row), rows.dim[0], 1);
    if (scale.valid()) u.gradient = u.gradient * scale;
    for (int s = 0; s < Optimizer::states; ++s) u.state[s] = leaf(1 + s);
    u.rate = scalar_of(scalar::group_rates, 2 * k);
    u.decay = scalar_of(scalar::group_rates, 2 * k + 1);
    u.step = scalar_of(scalar::step);
    var const next = Optimizer::update(u);
    g.outputs.push_back({next.id, output_kind::assign, leaf(0).id});
    for (int s = 0; s < Optimizer::states; ++s) g.outputs.push_back({u.state[s].id, output_kind::assign, leaf(1 + s).id});
  }
}

}  // namespace detail

template <class Model, auto Loss, class Optimizer, class... Options>
struct train_step {
  using model = Model;
  using call = callable<std::remove_cvref_t<decltype(Loss)>, Model>;
  static constexpr dist::division division = dist::division_of<Options...>;
  using arguments = dist::arguments_of_shards<division.shards, typename call::arguments>;
  using result = std::conditional_t<typed_handle<typename call::result>, loss_result<typename call::result>, typename call::result>;
  static constexpr int states = Optimizer::states;
  static constexpr bool clips = (std::is_same_v<Options, clip_gradient> || ...);
  static constexpr compile_options options = [] {
    compile_options o{};
    ((o = detail::options_in<Options>::given ? detail::options_in<Options>::value : o), ...);
    return o;
  }();

  // The whole step as a graph.
  static constexpr void record(graph& g) {
    graph one{};  // a shard of the batch, or all of it
    graph& recorded = division.given ? one : g;
    trace<Model, Loss>(recorded);
    auto const list = detail::parameter_gradients(recorded, recorded.outputs[0].value);
    g.no_gradient = recorded.no_gradient;
    if (g.no_gradient.op != nullptr) return;
    auto flatten = [&](vec<int> const& ids) { return detail::flat_gradient<Model>(g, ids, list.first); };
    var const gradient = division.given ? dist::append_shards(g, division, one, list.ids, flatten) : flatten(list.ids);
    g.when = phase::update;
    var scale{};
    if constexpr (clips) {
      var const norm = sqrt(sum_all(gradient * gradient));
      scale = minimum(cast(run_time_scalar(g, scalar::clip_norm), norm.type()) / (norm + 1e-6), 1.0);
    }
    detail::append_update<Model, Optimizer>(g, gradient, scale);
  }
  struct source {
    static constexpr exec::lowered lower() {
      graph g{};
      record(g);
      return exec::compile(g, options);
    }
  };
  using program = exec::program<source>;
  static constexpr exec::memory_use memory = [] {
    exec::memory_use m = program::memory;
    m.parameters = layout<Model>::size * size_of(layout<Model>::type);
    m.optimizer = m.parameters * states;
    m.peak = m.parameters + m.optimizer + m.arena;
    return m;
  }();
};

}  // namespace tx
