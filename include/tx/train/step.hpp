// train_step<Model, loss, optimizer, options...>: loss, backward, clipping and update as one program.
#pragma once

#include <tx/backends/cpu/target.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/train/accumulate.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/recorded.hpp>
#include <tx/train/recorded_identity.hpp>

namespace tx {

// A loss that returns a scalar alone hands back an aggregate with this one member.
template <class T>
struct loss_result {
  T loss;
};

// With the option gradient_norm.
template <class Result, class T>
struct with_gradient_norm : Result {
  tensor<T> gradient_norm;
};
template <class Result, class T, class F>
constexpr void for_each_tensor(with_gradient_norm<Result, T>& result, F f) {
  for_each_tensor(static_cast<Result&>(result), f);
  f(result.gradient_norm);
}

template <class Model, auto Loss, class Optimizer, class... Options>
struct train_step {
  static_assert(tx::optimizer<Optimizer>, "tx::train_step: the third argument is no optimizer. FIX: one of train/, as tx::adamw, or a struct with `states` and `update`, see train/optimizer.hpp");
  static_assert(Optimizer::states >= 0 && Optimizer::states <= max_states, "tx::train_step: an optimizer has 0 to 4 states. FIX: keep two numbers in one, or compute one anew");
  static_assert((detail::is_step_option<Options> && ...),
                "tx::train_step: a type behind the optimizer is no option. FIX: those of train/options.hpp and dist/data_parallel.hpp, or a step_option of it");
  using model = Model;
  using optimizer = Optimizer;
  using call = callable<std::remove_cvref_t<decltype(Loss)>, Model>;
  static constexpr dist::division division = dist::division_of<Options...>;
  static constexpr int states = Optimizer::states;
  // What the states mean; see optimizer.hpp.
  static std::string optimizer_identity() { return detail::optimizer_identity<Optimizer>(); }
  static constexpr detail::step_options options = detail::options_of<Options...>();
  using told = std::conditional_t<typed_handle<typename call::result>, loss_result<typename call::result>, typename call::result>;
  using result = std::conditional_t<options.tells_norm, with_gradient_norm<told, element_t<layout<Model>::type>>, told>;
  static constexpr int parts = options.parts;
  static constexpr int sums_block = 1 + states;  // of gradients over the parts of a batch: behind the optimizer's states
  static_assert(parts == 1 || !division.given, "tx::train_step: accumulate<N> and a division over shards or ranks do not go together yet. FIX: leave out one of the two");
  using arguments = dist::arguments_of_shards<division.shards * parts, typename call::arguments>;

  // The whole step as a graph (of a part of a batch without the update), with activations of about so many bytes; -1: everything is
  // kept that is worth it.
  static constexpr recomputation record(graph& g, std::int64_t activations = -1) {
    graph one{};  // a shard of the batch, or all of it
    graph& recorded = division.given ? one : g;
    recomputation const again = detail::record_loss<Model, Loss>(recorded, options, activations);
    if constexpr (parts > 1) {
      detail::sum_at_once user(sums_block);
      int const results = g.outputs.size();
      gradients(g, g.outputs[0].value, detail::parameter_leaves<Model>(g), &user, again.again);
      if (g.outputs.size() == results) detail::no_parameter(g);
    } else if constexpr (options.clips || division.given) {
      record_flat_update(g, one, recorded, again.again);
    } else {  // nothing needs all gradients together
      detail::update_at_once<Model, Optimizer> user(options.tells_norm);
      vec<int> const leaves = detail::parameter_leaves<Model>(g);
      int const results = g.outputs.size();
      user.finish(g, leaves, gradients(g, g.outputs[0].value, leaves, &user, again.again));
      if (g.outputs.size() == results) detail::no_parameter(g);
      if (options.tells_norm && g.no_gradient.op == nullptr) {  // in braces, and named: nvcc loses a semicolon else
        output const norm{user.norm(g).id, output_kind::result, -1};
        g.outputs.push_back(norm);
      }
    }
    return again;
  }
  // All gradients first: their norm, or their sum over shards and ranks, is needed before any parameter moves.
  static constexpr void record_flat_update(graph& g, graph& one, graph& recorded, vec<char> const& again) {
    auto const list = detail::parameter_gradients<Model>(recorded, recorded.outputs[0].value, again);
    g.no_gradient = recorded.no_gradient;
    if (g.no_gradient.op != nullptr) return;
    auto flatten = [&](vec<int> const& ids) { return detail::flat_gradient(g, ids, list.first, layout<Model>::trained); };
    var const gradient = division.given ? dist::append_shards(g, division, one, list.ids, flatten) : flatten(list.ids);
    g.when = phase::update;
    var scale{};
    if constexpr (options.clips || options.tells_norm) {
      var const norm = sqrt(sum_all(gradient * gradient));
      if (options.tells_norm) g.outputs.push_back({norm.id, output_kind::result, -1});
      if (options.clips) scale = minimum(cast(run_time_scalar(g, scalar::clip_norm), norm.type()) / (norm + 1e-6), 1.0);
    }
    detail::update_all<Model, Optimizer>(g, [&](std::int64_t first, shape const& dims) {
      var const own = detail::part_of_flat(gradient, first, dims);
      return scale.valid() ? own * scale : own;
    });
  }

  using source = detail::recorded_source<train_step>;
  template <target const& To = cpu_target>
  using program = detail::recorded_program<train_step, To>;
  // What follows the parts of a batch.
  struct update_source {
    static constexpr exec::lowered lower(target const& to, exec::inspection* seen = nullptr) {
      graph g{};
      detail::record_update_from_sums<Model, Optimizer>(g, sums_block, parts, options);
      return exec::compile(g, to, options.compile, seen);
    }
  };
  template <target const& To = cpu_target>
  using update_program = exec::program<update_source, To>;

  // What both programs of a batch in parts need: the sums of gradients lie beside the arena that they share.
  static constexpr exec::memory_use memory_of(exec::memory_use const& part, exec::memory_use const& u) {
    exec::memory_use m = exec::with_parameters<Model>(part, states);
    auto const most = [](std::int64_t a, std::int64_t b) { return a > b ? a : b; };
    std::int64_t const sums = layout<Model>::trained * size_of(layout<Model>::type);
    m.gradients += sums;
    m.workspace = most(m.workspace, u.workspace);
    m.largest_live = most(m.largest_live, u.largest_live) + sums;
    m.arena = most(m.arena, u.arena) + sums;
    m.peak = m.parameters + m.optimizer + m.arena;
    m.recomputed_flops *= parts;
    return m;
  }
  template <target const& To>
  static constexpr exec::memory_use memory_on = [] {
    if constexpr (parts > 1) return memory_of(program<To>::memory, update_program<To>::memory);
    else return exec::with_parameters<Model>(program<To>::memory, states);
  }();
  static constexpr exec::memory_use memory = memory_on<cpu_target>;
};

}  // namespace tx
