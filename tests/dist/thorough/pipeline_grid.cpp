// Two pipelines, each with a batch of its own.
#include "../pipelined.hpp"

#include <tx/inspect/finite_guard.hpp>

using namespace divided;

TEST_CASE("two pipelines with a batch each, whose ranks with the same blocks divide the optimizer's states of those, and gradients") {
  using whole = step_of_words<adamw, accumulate<2>, data_parallel<2>, pipeline<2>, gradient_norm, clip_gradient>;
  using divided_again = step_of_words<adamw, accumulate<2>, data_parallel<2>, pipeline<2>, gradient_norm, clip_gradient, zero<1>>;
  auto const trained_by = []<class Step>(std::type_identity<Step>) {
    return on_ranks(4, [](dist::local& rank) {
      executor<Step, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
      finite_guard const guard{run};  // which knows where everything lies
      return trained_words(run, grid_of<Step>(rank.size()).batch_of(rank.rank()));
    });
  };
  using gradients_too = step_of_words<adamw, accumulate<2>, data_parallel<2>, pipeline<2>, gradient_norm, clip_gradient, zero<2>>;
  check_pipelined<step_of_words<adamw, accumulate<2>, virtual_shards<2>, gradient_norm, clip_gradient>, whole>(4);
  auto const wanted = trained_by(std::type_identity<whole>{});
  CHECK(trained_by(std::type_identity<divided_again>{}) == wanted);
  CHECK(trained_by(std::type_identity<gradients_too>{}) == wanted);
  CHECK(divided_again::memory.optimizer < whole::memory.optimizer);
}
