// How a program came about: the graph it was made of, its groups, and the buffers of its arena. For people and tests:
// Source::lower(&inspection) fills one; the constant evaluation that makes a program keeps none.
#pragma once

#include <tx/passes/groups.hpp>
#include <tx/passes/buffer_offsets.hpp>
#include <tx/plan/compile_options.hpp>

namespace tx::exec {

struct inspection {
  bool graph_only = false;             // asks for no more than the next two, which saves the planning
  compile_options options{};
  graph nodes{};  // as lowered
  passes::fusion fused{};
  vec<int> group_of_call{};
  vec<int> buffer_of{};           // node -> the buffer it is the root of, -1: none; see passes::location
  vec<passes::buffer> buffers{};  // of values, then of scratch; moments as in timeline.hpp; of 0 bytes: taken over
  vec<int> scratch_of_call{};     // -1: none
};

}  // namespace tx::exec
