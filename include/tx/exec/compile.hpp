// From a recorded graph to a program: the passes, in order.
#pragma once

#include <tx/exec/lower.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx {

// Switches of the compiler; the defaults are what everyone wants, the others are for tests.
struct compile_options {
  bool fuse = true;

  constexpr bool operator==(compile_options const&) const = default;
};

namespace exec {

// The graph as it will be run.
constexpr graph optimise(graph const& recorded) { return passes::insert_copies(passes::simplify(recorded)); }

constexpr lowered compile(graph const& recorded, compile_options options) {
  graph const g = optimise(recorded);
  return lower(g, passes::fuse(g, options.fuse));
}

}  // namespace exec
}  // namespace tx
