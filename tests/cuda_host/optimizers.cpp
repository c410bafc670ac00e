// Norms of whole tensors, sums over parts and results of the update, where the host does not reach the memory.
#include "../train/small_net.hpp"
#include "compare.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/train/averaged.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/loss_scale.hpp>

#include <catch2/catch.hpp>

#include <cmath>

namespace {

using namespace tx;
using parts = train_step<small::net<float>, small::loss<float, peel::none, small::rows / 2>, averaged<lamb>,
                         accumulate<2>, clip_gradient, gradient_norm>;
static_assert(exec::remote<interpreted>);

using in_halves = train_step<small::net<float>, small::loss<float, peel::none, small::rows>, adamw, mixed<f16>, loss_scale>;

}  // namespace

TEST_CASE("LAMB on parts of a batch, on the device and on the processor") {
  auto const x = small::batch<float>(1);
  auto const told = outcome<parts, interpreted>(3, x);
  CHECK(told[1] > 0);  // the norm, behind the loss
  CHECK(distance(told, outcome<parts, cpu>(3, x)) < 1e-5);
}

TEST_CASE("Halves by a multiple of the loss, and a step that is skipped, on the device and on the processor") {
  auto const x = small::batch<float>(1);
  auto const skipping = [&]<class Backend>(std::type_identity<Backend>) {
    executor<in_halves, Backend> run{tx::seed(3)};
    run(x);
    auto const before = run.read();
    run.settings.set("loss_scale", 0x1p120f);
    CHECK(!std::isfinite(static_cast<float>(run(x).gradient_norm)));
    CHECK(run.read() == before);
    run.settings.set("loss_scale", 4096.0f);
    run(x);
    auto const after = run.read();
    CHECK(after != before);
    return std::vector<double>(after.begin(), after.end());
  };
  CHECK(distance(skipping(std::type_identity<interpreted>{}), skipping(std::type_identity<cpu>{})) < 2e-3);
}
