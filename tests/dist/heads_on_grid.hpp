// What ranks of a grid train of stacked_heads, where they divide products and, each row with a batch of its own, what they have alike: for tests of zero beside tensor_parallel.
#pragma once

#include "heads.hpp"

#include <utility>

namespace divided {

template <class... Options>
using of_grid = heads_by<adamw, tensor_parallel<2>, Options...>;
using divided_again = of_grid<data_parallel<2>, zero<1>>;
using parameters_too = of_grid<data_parallel<2>, zero<3>>;
template <class Step>
using running = executor<Step, distributed<cpu, dist::local>>;

auto all_blocks(auto& run) {
  std::vector<std::vector<float>> blocks;
  for (int k = 0; k <= run.states(); ++k) blocks.push_back(run.read(k));
  return blocks;
}
// What ranks are told, and all parameters and states.
template <class Step>
auto trained_grid(int ranks) {
  return on_ranks(ranks, [](dist::local& rank) {
    running<Step> run{seed(3), rank, {.threads = 1}};
    auto told = trained_heads(run, grid_of<Step>(rank.size()).batch_of(rank.rank()));
    return std::pair(std::move(told), all_blocks(run));
  });
}
template <class Divided, class Whole>
void check_alike(int ranks) {
  auto const wanted = trained_grid<Whole>(ranks);
  CHECK(trained_grid<Divided>(ranks) == wanted);
}

}  // namespace divided
