// Two pipelines, each with a batch of its own.
#include "../pipelined.hpp"

#include <tx/train/lamb.hpp>

using namespace divided;

TEST_CASE("two pipelines with a batch each, and LAMB's norms, which are those of whole tensors") {
  check_pipelined<step_of_words<lamb, accumulate<2>, virtual_shards<2>, gradient_norm, clip_gradient>, step_of_words<lamb, accumulate<2>, data_parallel<2>, pipeline<2>, gradient_norm, clip_gradient>>(4);
}
