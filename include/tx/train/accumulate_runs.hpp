// accumulate_runs<N>: one update for N runs, by the mean of their gradients. Each run's gradient is added to those of the runs before it, in a state of the
// step beside the optimizer's; the N-th run clips and updates by their mean, and forgets the sum.
//
//   before   gradient g by w, in run t
//   after    s' = where(t is an N-th run, 0, s + g) replaces s; gradient (s + g) / N by w, of which the update makes use in every N-th run alone
//
// Which run is an N-th one, and of which update, are numbers that the executor counts in 64 bits. Each run computes the update; all but the N-th put back what was.
// Batches may be of bounded extents, other ones in each run. A mean over what a batch holds is of that batch: the update is by the mean of the means.
#pragma once

#include <tx/expr/scalar.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/where.hpp>
#include <tx/train/gradients.hpp>

namespace tx::detail {

// Where a run stands among those of its update.
struct place_among_runs {
  var update;  // the update's number, from 1: a scalar of f32
  var last;    // a scalar bool: does this run update? Not valid: every run does
};

constexpr place_among_runs place_of_run(graph& g, int runs) {
  if (runs == 1) return {run_time_scalar(g, scalar::run), {}};
  return {run_time_scalar(g, scalar::update), less(0.5, run_time_scalar(g, scalar::ends_update))};
}

// What a run leaves where only an update changes it.
constexpr var changed_by_update(place_among_runs const& place, var next, var before) { return place.last.valid() ? where(place.last, next, before) : next; }

// state: the number of the one that holds sums.
template <class Facts>
constexpr void add_to_earlier_runs(graph& g, int runs, int state, Facts const& facts) {
  g.when = step_phase::update;
  place_among_runs const place = place_of_run(g, runs);
  vec<output> sums{};
  for_each_gradient(g, [&](var gradient, int target) {
    var const before = emit_leaf(g, block_info, gradient.info(), of_block(1 + state, facts.first_state(g[target])));
    var const sum = before + gradient;
    var const nothing = broadcast_to(constant(g, gradient.type(), 0), gradient.dims());
    var const next = where(place.last, nothing, sum);
    sums.push_back(output{next.id, output_kind::assign, before.id});
    return sum * (1.0 / runs);
  });
  for (output const& o : sums) g.outputs.push_back(o);
}

}  // namespace tx::detail
