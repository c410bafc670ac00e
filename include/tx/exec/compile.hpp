// From a recorded graph to a program: the passes, in order.
#pragma once

#include <tx/exec/compile_options.hpp>
#include <tx/exec/lower.hpp>
#include <tx/graph/verify.hpp>
#include <tx/passes/bands.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx {

namespace exec {

// The graph as it will be run. The list of passes is this function.
constexpr graph optimise(graph const& recorded) {
  graph g = verify(recorded);
  for (auto const pass : {passes::simplify, passes::insert_copies}) {
    graph next = pass(g);
    verify(next);
    g = static_cast<graph&&>(next);
  }
  return g;
}

// A program from an optimised graph.
constexpr lowered plan(graph const& g, compile_options const& options, inspection* seen = nullptr) {
  passes::fusion f = passes::fuse(g, options.fuse);
  if (options.schedule) f = passes::schedule(g, static_cast<passes::fusion&&>(f));
  if (options.fuse) f = passes::bands(g, static_cast<passes::fusion&&>(f), options.band_bytes);
  lowered l = lower(g, f, seen);
  if (seen != nullptr) {
    seen->nodes = g;
    seen->fused = static_cast<passes::fusion&&>(f);
    seen->options = options;
  }
  return l;
}

constexpr lowered compile(graph const& recorded, compile_options const& options, inspection* seen = nullptr) {
  if (recorded.no_gradient.op != nullptr) {  // program<> says so
    lowered nothing{};
    nothing.no_gradient = recorded.no_gradient;
    return nothing;
  }
  graph g = optimise(recorded);
  if (seen != nullptr && seen->graph_only) {
    seen->nodes = static_cast<graph&&>(g);
    seen->options = options;
    return {};
  }
  return plan(g, options, seen);
}

}  // namespace exec
}  // namespace tx
