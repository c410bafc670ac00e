// zero<Stage>: an option of a step for several ranks. They divide among them what would lie on each of them alike (ZeRO: Rajbhandari et al., arXiv 1910.02054).
//
//   train_step<model, loss, adamw, data_parallel<4>, zero<1>>   optimizer states: each rank keeps a fourth of each matrix's, updates that, and all exchange what they updated
//   train_step<model, loss, adamw, data_parallel<4>, zero<2>>   gradients too: each is added up where it is kept
//   train_step<model, loss, adamw, data_parallel<4>, zero<3>>   parameters too: each is gathered where it is used, of a repeated block one block's at a time, forward and again backward
//
// What is trained is the same, bit for bit, with each stage and without, on any number of ranks: sums have one order, norms are added up row by row. (Gradients that
// travel as halves depend on the number of ranks, as they do without.) How many ranks there are is known while compiling, so that a rank's plan is. What is divided how:
// expr/state_portions.hpp; executor::read and checkpoints hold whole states, so that another number of ranks, or a step without zero, goes on from them. With zero<3> other
// programs of the model, as one that scores it, take it too: function<score, model, kept_as<step>>.
//
// Beside tensor_parallel the ranks of a grid that use the same portion of a parameter, each for a batch of its own, divide its states, its gradient or itself once more. Beside pipeline, whose ranks are at
// different layers at a time, there is no zero<3>.
//
// An update sees zeros behind the rows of ranks that have fewer: what it makes of them is dropped, but finite_guard tells of 0 / 0.
// Errors, while compiling: data_parallel<> without a number; an optimizer that keeps less than a number for each element; adasum; layer_decay; on such a grid accumulate_runs and optimizers
// that look at whole tensors.
#pragma once

#include <tx/dist/divided_parameters.hpp>
#include <tx/dist/gradient_facts.hpp>
#include <tx/step/function.hpp>

namespace tx {

template <int Stage>
struct zero {
  static_assert(Stage >= 1 && Stage <= 3, "tx::zero: there is no such stage. FIX: zero<1>, optimizer states divided among ranks, zero<2>, gradients too, or zero<3>, parameters too");
};

template <int Stage>
struct step_option<zero<Stage>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(zero<Stage>) > 0);  // its own assertion, as in train/options.hpp
    o.division.zero = Stage;
  }
};

template <class Model>
struct detail::divided_program<Model, 3> {
  static constexpr state_kinds states(batch_division const& d) {
    if (d.ranks == any_ranks) throw invalid("zero<3>: ranks divide parameters among them, and how many there are is not known. FIX: data_parallel<N> beside it");
    return state_kinds(0).divided_by(portioning::of_rows(d.ranks), 1);
  }
  static constexpr void gather_parameters(graph& g, state_kinds const& kinds) {
    if (!kinds.divides_parameters()) return;
    dist::divide_parameters(g, gradient_facts<Model>(kinds), across::batches);
    dist::gather_parameters(g);
  }
  static constexpr void keep_in_portions(graph& g, state_kinds const& kinds) {
    if (kinds.divides_parameters()) dist::keep_in_portions(g, gradient_facts<Model>(kinds));
  }
};

}  // namespace tx
