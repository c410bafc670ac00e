// A rate of dropout that leaves nothing.
// expect: dropout: a rate is at least 0 and below 1. FIX:
#include <tx/ops/dropout.hpp>
#include <tx/ops/sum.hpp>
#include <tx/step/function.hpp>

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto f = [](model const& m) { return tx::sum(tx::dropout(m.w, 1.0)); };
static_assert(tx::function<f, model>::memory.arena > 0);
