// tensor_parallel beside pipeline: each stage is several ranks, which divide its products.
#include "../spoken.hpp"

#include <tx/train/lamb.hpp>

using namespace divided;

TEST_CASE("two stages of two ranks train what one rank does, by norms of whole tensors") {
  using whole = spoken<peel::last, lamb, accumulate<4>, clip_gradient, gradient_norm>;
  using two_by_two = spoken<peel::last, lamb, accumulate<4>, clip_gradient, gradient_norm, tensor_parallel<2>, pipeline<2>>;
  check_pipelined<whole, two_by_two>(4, 1e-5, 3e-5);  // the keys' bias has no gradient but for rounding, of which LAMB makes steps
  // Half the words, and of half the blocks half of six matrices; the other numbers are vectors'.
  constexpr std::int64_t table = words_said * hidden, matrices = 4 * (4 + 2 * 3) * hidden * hidden;
  CHECK(two_by_two::memory.parameters <= whole::memory.parameters - (table / 2 + matrices * 3 / 4) * std::int64_t{sizeof(float)});
  STATIC_REQUIRE(grid_of<two_by_two>(4).stages == 2);
  STATIC_REQUIRE(grid_of<two_by_two>(4).products == 2);
}

TEST_CASE("four stages of two ranks, and halves") {
  check_pipelined<spoken<peel::none, sgd, accumulate<2>, mixed<bf16>>, spoken<peel::none, sgd, accumulate<2>, mixed<bf16>, tensor_parallel<2>, pipeline<4>>>(8, 2e-2, 2e-3);
}
