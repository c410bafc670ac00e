// From a recorded graph to a program: the passes, in order.
#pragma once

#include <tx/graph/verify.hpp>
#include <tx/passes/bands.hpp>
#include <tx/passes/expand.hpp>
#include <tx/passes/hoist.hpp>
#include <tx/passes/joined_gradients.hpp>
#include <tx/passes/neighbours.hpp>
#include <tx/passes/remake.hpp>
#include <tx/passes/rounded_carries.hpp>
#include <tx/passes/rounded_gradients.hpp>
#include <tx/passes/widened.hpp>
#include <tx/plan/compile_options.hpp>
#include <tx/plan/lower.hpp>

namespace tx {

namespace exec {

// What is to be computed. The list of passes over the graph is this function and the next.
constexpr graph optimise(graph const& recorded, target const& to) {
  verify(recorded);
  graph g = passes::widened(passes::expand(recorded, to.runs_attention), to.multiplies_e4m3);
  if (to.rounds_ahead) g = passes::rounded_carries(passes::hoist(static_cast<graph&&>(g)));
  if (to.kernel.ends_product != nullptr) g = passes::rounded_gradients(g, to.kernel.ends_product);
  if (to.makes_neighbours) g = passes::neighbours(passes::joined_gradients(g));
  verify(g);
  return g;
}

// A program for a target from an optimised graph: where values lie, what is computed together, when, and in which memory.
constexpr lowered plan(graph const& optimised, target const& to, compile_options const& options, inspection* seen = nullptr) {
  passes::stored_graph stored = passes::assign_storage(optimised);
  graph& g = stored.nodes;
  verify(g);
  passes::fusion f = passes::fuse(g, static_cast<passes::storage&&>(stored.where), to.kernel, options.fuse);
  if (options.fuse && to.remakes) passes::remake(g, f, to.kernel);
  if (options.reorder) f = passes::reorder(g, static_cast<passes::fusion&&>(f));
  std::int64_t const band_bytes = options.band_bytes < 0 ? to.band_bytes : options.band_bytes;
  if (options.fuse && band_bytes > 0) f = passes::bands(g, static_cast<passes::fusion&&>(f), band_bytes);
  lowered l = lower(g, f, to, seen);
  for (output const& o : g.outputs) l.replaces_leaves = l.replaces_leaves || o.kind == output_kind::assign;
  if (seen != nullptr) {
    seen->nodes = g;
    seen->fused = static_cast<passes::fusion&&>(f);
    seen->options = options;
  }
  return l;
}

constexpr lowered compile(graph const& recorded, target const& to, compile_options const& options, inspection* seen = nullptr) {
  if (recorded.no_gradient.op != nullptr) {  // program<> says so
    lowered nothing{};
    nothing.no_gradient = recorded.no_gradient;
    return nothing;
  }
  graph g = optimise(recorded, to);
  if (seen != nullptr && seen->graph_only) {
    seen->nodes = static_cast<graph&&>(g);
    seen->options = options;
    return {};
  }
  return plan(g, to, options, seen);
}

}  // namespace exec
}  // namespace tx
