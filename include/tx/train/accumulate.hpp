// accumulate<N>: a batch in N parts, one after the other, each with the memory of a part: a loop over them that carries the sums of their
// gradients and results. Sinking (passes/sink.hpp) adds each gradient where it is complete, and the mean is what is clipped and updated from.
//
//   one       loss l of a part x [6, 16], gradient g by w
//   in parts  X [12, 16] seen as [2, 6, 16]; scan<2>: L' = L + l, G' = G + g of a slice; loss L / 2, gradient G / 2 by w
// A state goes through the parts in order: it is a carry too.
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/mul.hpp>
#include <tx/passes/as_body.hpp>
#include <tx/passes/parts.hpp>

namespace tx::detail {

// The state that an output of `one` is stored over; -1: it is a result or a gradient, which are added up.
constexpr int state_of(output const& o) { return o.kind == output_kind::assign ? o.target : -1; }

// From `one`, the loss of a part with its gradients as outputs, the graph of a batch: a loop over the parts. Its outputs are those of the batch.
constexpr graph averaged_over_parts(graph const& one, int parts) {
  passes::check_results_of_parts(one);
  graph g{};
  passes::body_of_graph part(g, one);
  part.body().iterations = parts;
  part.body().parts = true;
  vec<char> is_state(one.size(), 0);
  vec<int> carried{};  // of each output
  for (output const& o : one.outputs) {
    value_info const& info = one.info(o.value);
    g.when = o.kind == output_kind::gradient ? step_phase::update : step_phase::forward;
    int const state = state_of(o);
    int const start = state >= 0 ? emit_leaf(g, *one[state].op, one.info(state), one[state].at).id : broadcast_to(constant(g, info.type, 0), info.dims).id;
    carried.push_back(part.argument(start, info, state));
    if (state >= 0) is_state[state] = 1;
  }
  part.body().carries = carried.size();
  for (bool const is_argument : {false, true})
    for (int i = 0; i < one.size(); ++i) {
      if (!part.is_handed_in(one, i) || is_state[i] || (one[i].op == &input_info) != is_argument) continue;
      int const outside = is_argument ? passes::argument_of_parts(g, one[i], parts) : emit_leaf(g, *one[i].op, one.info(i), one[i].at).id;
      part.argument(outside, one.info(i), i);
      ++(is_argument ? part.body().stacked : part.body().invariants);
    }
  part.copy_nodes(0);
  g.current = part.id();
  for (int k = 0; k < carried.size(); ++k) {
    output const& o = one.outputs[k];
    g.when = o.kind == output_kind::gradient ? step_phase::update : step_phase::forward;
    var const next{&g, part[o.value]};
    part.body().results.push_back(state_of(o) >= 0 ? next.id : (var{&g, carried[k]} + next).id);
  }
  int const owner = part.close();
  for (int k = 0; k < carried.size(); ++k) {
    output o = one.outputs[k];
    g.when = o.kind == output_kind::gradient ? step_phase::update : step_phase::forward;
    var const last{&g, g.emit(&result_info, &owner, 1, of_result(k), one.info(o.value))};
    o.value = state_of(o) >= 0 ? last.id : (last * (1.0 / parts)).id;
    if (o.target >= 0) o.target = emit_leaf(g, *one[o.target].op, one.info(o.target), one[o.target].at).id;
    g.outputs.push_back(o);
  }
  return g;
}

}  // namespace tx::detail
