// From a recorded graph to a program: the passes, in order.
#pragma once

#include <tx/exec/lower.hpp>
#include <tx/graph/verify.hpp>
#include <tx/passes/bands.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx {

// Switches of the compiler; the defaults are what everyone wants, the others are for tests.
struct compile_options {
  bool fuse = true;
  bool schedule = true;  // off: kernels run in the order of recording
  std::int64_t band_bytes = std::int64_t{1} << 20;  // of values handed from product to product, at a time; see passes/bands.hpp

  constexpr bool operator==(compile_options const&) const = default;
};

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

constexpr lowered compile(graph const& recorded, compile_options options) {
  if (recorded.no_gradient.op != nullptr) {  // program<> says so
    lowered nothing{};
    nothing.no_gradient = recorded.no_gradient;
    return nothing;
  }
  graph const g = optimise(recorded);
  passes::fusion f = passes::fuse(g, options.fuse);
  if (options.schedule) f = passes::schedule(g, static_cast<passes::fusion&&>(f));
  if (options.fuse) f = passes::bands(g, static_cast<passes::fusion&&>(f), options.band_bytes);
  return lower(g, f);
}

}  // namespace exec
}  // namespace tx
