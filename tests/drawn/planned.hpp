// What is checked of the plans of a recorded graph: the part of the tests that compiles the passes.
#pragma once

#include "finish.hpp"
#include "numbers.hpp"

#include <functional>

namespace drawn {

// What a run hands out and what it leaves in the flat blocks.
struct outcome {
  std::vector<values> results;
  std::vector<values> blocks;
};

// Sums over programs.
struct totals {
  std::int64_t kernels = 0, arena = 0;  // calls that were made, and bytes of arenas, of all plans
  std::int64_t handed = 0;              // values of which plans hold a band at a time
  int joined = 0;                       // programs in which products lie side by side
  int remade = 0;                       // values that a kernel of a device makes again
  int hoisted = 0;                      // programs in which a loop rounds slices of a parameter
  int programs = 0, walks = 0, banded = 0, unfinished = 0, slopes = 0;
  std::map<int, int> scaled;            // kernels of a library's product of E4M3, by how many nodes they have
  std::map<std::string, int> planned;   // nodes of optimised graphs, by op
};

// One run of the program that a graph becomes: how many rows there are, and what is wrong with an outcome ("": nothing).
struct expectation {
  int rows = 0;  // of the bounded extent
  std::function<std::string(outcome const&)> wrong;
};

// The outcome of a graph of fixed extents, node by node.
inline outcome evaluated(graph const& g, recorded const& leaves, evaluation const& how) {
  evaluator const all(g, [](tx::node const& leaf) { return leaf_values(leaf); }, how);
  outcome out;
  for (std::size_t b = 0; b < leaves.sizes.size(); ++b) {
    values v;
    for (int k = 0; k < leaves.sizes[b]; ++k) v.push_back(block_element(static_cast<int>(b), k, leaves.type));
    out.blocks.push_back(std::move(v));
  }
  for (tx::output const& o : g.outputs) {
    values const& v = all[o.value];
    if (o.kind == tx::output_kind::result) {
      out.results.push_back(v);
      continue;
    }
    tx::node const& leaf = g[o.target];
    bool const state = leaf.op == &tx::block_info;
    values& to = out.blocks[static_cast<std::size_t>(state ? leaf.at.v[0] : 0)];
    std::copy(v.begin(), v.end(), to.begin() + leaf.at.v[state ? 1 : 0]);
  }
  return out;
}

// Optimises, plans in every variant and walks each plan. Throws std::runtime_error with what is wrong.
void check_plans(recorded const& r, std::vector<expectation> const& runs, totals& sums);

}  // namespace drawn
