// Norms of whole tensors, sums over parts and results of the update, where the host does not reach the memory.
#include "../train/small_net.hpp"
#include "compare.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/train/averaged.hpp>
#include <tx/train/lamb.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;
using parts = train_step<small::net<float>, small::loss<float, peel::none, small::rows / 2>, averaged<lamb>,
                         accumulate<2>, clip_gradient, gradient_norm>;
static_assert(exec::remote<interpreted>);

}  // namespace

TEST_CASE("LAMB on parts of a batch, on the device and on the processor") {
  auto const x = small::batch<float>(1);
  auto const told = outcome<parts, interpreted>(3, x);
  CHECK(told[1] > 0);  // the norm, behind the loss
  CHECK(distance(told, outcome<parts, cpu>(3, x)) < 1e-5);
}
