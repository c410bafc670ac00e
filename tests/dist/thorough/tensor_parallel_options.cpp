// Parts of products beside other options of a step.
#include "../heads.hpp"

#include <tx/train/lamb.hpp>
#include <tx/train/novograd.hpp>
#include <tx/train/options.hpp>

using namespace divided;

TEST_CASE("parts of products beside halves, sums over runs, clipping, and parts of a batch") {
  auto const same = [](auto const& ranks, std::vector<float> const& one, double epsilon, double margin) {
    for (auto const& of_rank : ranks) CHECK(of_rank == ranks[0]);
    check_near(ranks[0], one, epsilon, margin);
  };
  same(heads_by_ranks<step_of_heads<mixed<bf16>, tensor_parallel<2>>>(2), heads_by_one<step_of_heads<mixed<bf16>>>(), 2e-2, 2e-3);
  same(heads_by_ranks<step_of_heads<accumulate_runs<2>, tensor_parallel<2>>>(2), heads_by_one<step_of_heads<accumulate_runs<2>>>(), 1e-4, 2e-6);
  same(heads_by_ranks<step_of_heads<accumulate<3>, tensor_parallel<2>>>(2), heads_by_one<step_of_heads<accumulate<3>>>(), 1e-4, 2e-6);
  same(heads_by_ranks<step_of_heads<clip_gradient, tensor_parallel<4>>>(4), heads_by_one<step_of_heads<clip_gradient>>(), 1e-4, 2e-6);
}

TEST_CASE("LAMB's norms are those of whole tensors, of which each rank has a part") {
  using two = heads_by<lamb, tensor_parallel<2>>;
  CHECK(two::memory.parameters < heads_by<lamb>::memory.parameters);
  auto const ranks = heads_by_ranks<two>(2);
  CHECK(ranks[0] == ranks[1]);
  check_near(ranks[0], heads_by_one<heads_by<lamb>>(), 1e-4, 2e-6);
}

TEST_CASE("an optimizer that keeps a number for each tensor has them whole") {
  using two = heads_by<novograd, tensor_parallel<2>>;
  CHECK(two::memory.parameters == heads_by<novograd>::memory.parameters);
}

TEST_CASE("a grid of ranks beside halves and sums over runs, and an optimizer that looks at whole tensors") {
  auto const same = [](auto grid_step, auto one_step, double epsilon, double margin) {
    auto const ranks = heads_by_grid<typename decltype(grid_step)::type>(4);
    for (auto const& of_rank : ranks) CHECK(of_rank == ranks[0]);
    check_near(ranks[0], heads_by_one<typename decltype(one_step)::type>(), epsilon, margin);
  };
  using std::type_identity;
  same(type_identity<step_of_heads<data_parallel<2>, tensor_parallel<2>, mixed<bf16>, accumulate_runs<2>>>{}, type_identity<step_of_heads<virtual_shards<2>, mixed<bf16>, accumulate_runs<2>>>{}, 2e-2, 2e-3);
  same(type_identity<heads_by<lamb, data_parallel<2>, tensor_parallel<2>>>{}, type_identity<heads_by<lamb, virtual_shards<2>>>{}, 1e-4, 2e-6);
}
