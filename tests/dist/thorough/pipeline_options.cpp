// Blocks that ranks divide beside other options of a step.
#include "../pipelined.hpp"

#include <tx/train/options.hpp>

using namespace divided;

TEST_CASE("blocks of ranks beside halves and sums over runs") {
  check_pipelined<step_of_words<sgd, accumulate<2>, mixed<bf16>>, step_of_words<sgd, accumulate<2>, mixed<bf16>, pipeline<2>>>(2, 2e-2, 2e-3);
  check_pipelined<step_of_words<adamw, accumulate<3>, accumulate_runs<2>, clip_gradient>, step_of_words<adamw, accumulate<3>, accumulate_runs<2>, clip_gradient, pipeline<6>>>(6);
}
