// train_step<Model, loss, optimizer, options...>: loss, backward, clipping and update as one program.
#pragma once

#include <tx/backends/cpu/target.hpp>
#include <tx/dist/overlap.hpp>
#include <tx/dist/pipeline.hpp>
#include <tx/dist/tensor_parallel.hpp>
#include <tx/dist/zero.hpp>
#include <tx/expr/handed_back.hpp>
#include <tx/passes/sink.hpp>
#include <tx/train/accumulate.hpp>
#include <tx/train/accumulate_runs.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/clip.hpp>
#include <tx/train/loss_scale.hpp>
#include <tx/train/recorded.hpp>
#include <tx/train/recorded_identity.hpp>

namespace tx {

// A loss that returns a scalar alone hands back an aggregate with this one member, a number.
template <class T>
struct loss_result {
  handed_back<T> loss;
};

// With the option gradient_norm.
template <class Result, class T>
struct with_gradient_norm : Result {
  T gradient_norm;
};
template <class Result, class T, class F>
constexpr void for_each_result(with_gradient_norm<Result, T>& result, F f) {
  for_each_result(static_cast<Result&>(result), f);
  f(result.gradient_norm);
}

// With the option loss_scale, the one that the run had.
template <class Result, class T>
struct with_loss_scale : with_gradient_norm<Result, T> {
  T loss_scale;
};
template <class Result, class T, class F>
constexpr void for_each_result(with_loss_scale<Result, T>& result, F f) {
  for_each_result(static_cast<with_gradient_norm<Result, T>&>(result), f);
  f(result.loss_scale);
}

namespace detail {
// The axes of parameters of which each rank keeps the portion that it uses, where ranks divide products, and the blocks of repeats.
template <class Model, auto Loss, class... Options>
inline constexpr auto axes_kept = dist::axes_kept<Model, Loss>(options_of<Options...>());
// What `left` leaves a rank, divided by those that divide products, where there are any.
template <class Model, auto Loss, class... Options>
constexpr portioning and_by_products(portioning const& left) {
  constexpr step_options o = options_of<Options...>();
  if constexpr (o.tensor_ranks > 1) return left.and_by({o.tensor_ranks, across::products}, axes_kept<Model, Loss, Options...>.items, layout<Model>::entries.size());
  else return left;
}
template <class Model, auto Loss, class... Options>
inline constexpr auto blocks_kept = dist::blocks_kept<Model, Loss>(options_of<Options...>(), state_kinds(0).divided_by(and_by_products<Model, Loss, Options...>(portioning{}), 1));

// What lies beside the parameters: the optimizer's states, sums of gradients over the runs of an update, and the loss's scale.
template <class Model, auto Loss, class Optimizer, class... Options>
constexpr state_kinds states_beside() {
  constexpr step_options o = options_of<Options...>();
  constexpr state_kinds own = Optimizer::states;
  state_kinds all = o.runs > 1 ? own.and_one(per::element) : own;
  all = (o.scales_loss ? all.and_one(per::step) : all).kept_by_host(o.offloads);
  portioning how{};
  if constexpr (own.only_elements() && !o.decays_by_layer) {
    if constexpr (o.stages > 1) how = how.and_by({o.stages, across::stages}, blocks_kept<Model, Loss, Options...>.items, layout<Model>::entries.size());
    how = and_by_products<Model, Loss, Options...>(how);
  }
  int const of_work = how.count;
  if constexpr (o.division.zero > 0) how = how.and_by({o.division.ranks, across::batches});
  return all.divided_by(how, o.division.zero == 3 ? how.count : of_work);
}
}  // namespace detail

template <class Model, auto Loss, class Optimizer, class... Options>
struct train_step {
  static_assert(tx::optimizer<Optimizer>, "tx::train_step: the third argument is no optimizer. FIX: one of train/, as tx::adamw, or a struct with `states` and `update`, see train/optimizer.hpp");
  static_assert(Optimizer::states >= 0 && Optimizer::states <= max_states, "tx::train_step: an optimizer has 0 to 4 states. FIX: keep two numbers in one, or compute one anew");
  static_assert((is_step_option<Options> && ...),
                "tx::train_step: a type behind the optimizer is no option. FIX: those of train/options.hpp and dist/data_parallel.hpp, or a step_option of it");
  using model = Model;
  using optimizer = Optimizer;
  using call = callable<std::remove_cvref_t<decltype(Loss)>, Model>;
  static_assert(Optimizer::states + (options_of<Options...>().runs > 1) + options_of<Options...>().scales_loss <= max_states,
                "tx::train_step: the optimizer has so many states that none is left for the sum over runs, or the loss's scale. FIX: accumulate_runs and loss_scale with an optimizer of fewer states");
  static constexpr state_kinds states = detail::states_beside<Model, Loss, Optimizer, Options...>();
  static_assert(states.only_elements() || detail::sees_whole_tensors<Optimizer>,
                "tx::train_step: an optimizer keeps a state per row, column or tensor, but may be shown many tensors at once. FIX: whole_tensors = true in the optimizer");
  // What the states mean; see optimizer.hpp.
  static std::string optimizer_identity() {
    std::string const own = detail::optimizer_identity<Optimizer>();
    return own + (options.runs > 1 ? ", every " + std::to_string(options.runs) + " runs" : "") + (options.scales_loss ? ", loss scaled" : "");
  }
  static constexpr step_options options = options_of<Options...>();
  static_assert(options.division.given || (options.division.combine == nullptr && !is_half(options.division.sent_as)),
                "tx::train_step: an option says how ranks add gradients, and there are no ranks. FIX: tx::data_parallel<> beside it, or without it");
  static constexpr batch_division division = options.division;
  static_assert(options.tensor_ranks == 1 || division.combine == nullptr, "tx::tensor_parallel: adasum is of whole gradients, of which ranks have parts. FIX: data_parallel beside it, without adasum");
  static_assert(options.stages == 1 || (division.zero <= 2 && division.combine == nullptr && !options.decays_by_layer && options.activations < 0),
                "tx::pipeline: ranks have blocks of their own, at which they are at different times, so zero<3> has none to gather for all, and adasum no whole gradients; and layer_decay and recompute are not known to it. FIX: accumulate, tensor_parallel and data_parallel beside it, with zero<2> at most");
  static_assert(options.ranks_of_batch() == 1 || division.zero == 0 || (options.runs == 1 && !detail::sees_whole_tensors<Optimizer> && !options.decays_by_layer),
                "tx::zero: beside tensor_parallel and pipeline a rank has portions of portions, which accumulate_runs, layer_decay and optimizers that look at whole tensors do not take. FIX: accumulate, an optimizer as tx::adamw, or no zero");
  static_assert(options.stages == 1 || !options.scales_loss, "tx::pipeline: gradients of a multiple of the loss are not known to it. FIX: mixed<bf16>, which needs none, and no loss_scale");
  static_assert(options.stages == 1 || states.only_elements(),
                "tx::pipeline: the optimizer keeps a state per row, column or tensor, and ranks keep those of their blocks. FIX: one with a number for each element, as tx::adamw or tx::lamb");
  static_assert(division.zero == 0 || (division.given && division.ranks != any_ranks), "tx::zero: ranks divide states among them, and how many there are is not known. FIX: data_parallel<N> beside it");
  static_assert(division.zero == 0 || states.only_elements(),
                "tx::zero: the optimizer keeps a state per row, column or tensor, of which a rank has portions. FIX: one with a number for each element, as tx::adamw or tx::lamb, or no zero");
  static_assert(division.zero == 0 || (division.combine == nullptr && !options.decays_by_layer), "tx::zero: adasum and layer_decay need whole tensors, of which a rank has portions. FIX: leave one of them out");
  using told = std::conditional_t<typed_handle<typename call::result>, loss_result<typename call::result>, typename call::result>;
  using number = element_t<layout<Model>::type>;
  using result = std::conditional_t<options.scales_loss, with_loss_scale<told, number>, std::conditional_t<options.tells_norm, with_gradient_norm<told, number>, told>>;
  static constexpr int parts = options.parts;
  using arguments = dist::arguments_of_shards<division.shards * parts, typename call::arguments>;

  // The whole step as a graph for a target, with activations of about so many bytes; -1: everything is kept that is worth it. The list of passes
  // from detail::record_forward on is this function; exec::compile goes on from there.
  static constexpr recomputation record(graph& g, target const& to = cpu_target, std::int64_t activations = -1) {
    detail::record_forward<Model, Loss>(g, options);
    detail::gradient_facts<Model> const facts(states);
    detail::loss_scaling const scaling{states.number_of(per::step), layout<Model>::type};  // used where one is kept
    recomputation again{};
    constexpr bool of_portions = options.tensor_ranks > 1 && states.divides_parameters();
    dist::divide_products(g, options.tensor_ranks);
    if constexpr (of_portions) dist::use_portions(g, facts);
    if constexpr (options.stages > 1) {
      g = dist::pipelined<Model>(g, options.stages, parts, facts);
      if (g.no_gradient.op != nullptr) return again;
    } else {
      if constexpr (division.zero == 3) dist::divide_parameters(g, facts, across::batches);
      again = detail::recomputed_within<Model>(g, activations);
      detail::differentiate<Model>(g, again.again, options.scales_loss ? scaling.scale(g) : var{});
      if (g.no_gradient.op != nullptr) return again;
      if constexpr (division.zero == 3) dist::gather_parameters(g);
      if constexpr (of_portions) dist::name_whole_parameters(g, facts);
    }
    detail::record_quarters<Model>(g, options);

    // From here on gradients are outputs of g. Those of a group that is small, and on a device of every group, are updated together. So are those that all exist before the
    // first update, as clipped ones do; but with ranks and shards a norm is that of the tensors, whoever has what of them, and what ranks divide is tensors too.
    constexpr auto small = [](int group) { return detail::updates_together<Model, Optimizer>(options, group); };
    bool const by_tensor = states.divides_parameters() || division.zero > 0 || (division.given && (options.clips || options.tells_norm));
    auto const ready_together = [&](int group) { return ((options.clips || options.scales_loss) && !division.given && !by_tensor) || (to.gathers_gradients && !by_tensor) || small(group); };
    if constexpr (parts > 1 && options.stages == 1) {
      g.outputs = detail::gathered<Model>(g, g.outputs, [&](int group) { return division.combine == nullptr && small(group); });
      g = detail::averaged_over_parts(g, parts);
    }
    auto const gather = [&](graph& all, vec<output> const& o) { return detail::gathered<Model>(all, o, ready_together); };
    // An optimizer that sums over whole tensors rounds otherwise in a loop over their blocks: there ranks take the way of shards, to the same bits.
    if constexpr (division.several() && division.shards == 1 && !detail::sees_whole_tensors<Optimizer>) {
      if constexpr (division.combine == nullptr) g.outputs = detail::gathered<Model>(g, g.outputs, small);
      dist::average_over_ranks(g, division, gather, facts);
    } else if constexpr (division.given) {
      g = dist::averaged_over_shards(g, division, gather, facts);
      if constexpr (division.combine != nullptr) g.outputs = gather(g, g.outputs);
    } else {
      g.outputs = gather(g, g.outputs);
    }

    if constexpr (options.runs > 1) {
      if constexpr (options.scales_loss) scaling.unscale_gradients(g);  // other runs may have had another scale
      if constexpr (division.zero == 1) detail::keep_own_rows(g, facts, across::batches);  // as the sums over runs are divided
      detail::add_to_earlier_runs(g, options.runs, Optimizer::states, facts);
    }
    var finite{};
    if constexpr (options.clips || options.tells_norm) {
      var norm = detail::norm_of_gradients(g, division.given, facts);
      if constexpr (options.scales_loss && options.runs == 1) norm = scaling.unscaled(g, norm);
      if (options.tells_norm) g.outputs.push_back(output{norm.id, output_kind::result, -1});
      if constexpr (options.scales_loss) {
        g.outputs.push_back(output{scaling.scale(g).id, output_kind::result, -1});
        finite = detail::is_finite(norm);
        detail::wait_for(g, finite);
        if constexpr (options.runs == 1) scaling.unscale_gradients(g);  // behind the norm, as part of the update: so they exist once
      }
      if (options.clips) detail::clip(g, norm);
    }

    detail::update_parameters<Model, Optimizer>(g, options, facts, finite);
    if constexpr (options.scales_loss) scaling.go_on(g, finite, detail::place_of_run(g, options.runs));
    passes::sink(g);
    if constexpr (states.divides_parameters()) dist::keep_in_portions(g, facts);
    if constexpr (options.overlaps > 0) dist::overlap(g, options.overlaps);
    return again;
  }

  using source = detail::recorded_source<train_step>;
  template <target const& To = cpu_target>
  using program = detail::recorded_program<train_step, To>;
  template <target const& To>
  static constexpr exec::memory_use memory_on = exec::memory_in_all<Model, arguments>(program<To>::memory, states, To);
  static constexpr exec::memory_use memory = memory_on<cpu_target>;
};

}  // namespace tx
