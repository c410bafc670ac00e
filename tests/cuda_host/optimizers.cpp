// Norms of whole tensors, sums over parts and results of the update, where the host does not reach the memory.
#include "../train/small_net.hpp"
#include "compare.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/train/averaged.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/loss_scale.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <utility>
#include <vector>

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

TEST_CASE("Halves by a multiple of the loss, which falls until no step is skipped, on the device and on the processor") {
  auto const x = small::batch<float>(1);
  auto const trained = [&]<class Backend>(std::type_identity<Backend>) {
    executor<in_halves, Backend> run{tx::seed(3)};
    run.settings.set("loss_scale", 0x1p40f);
    run.settings.set("loss_scale_interval", 2.0f);
    auto const before = run.read();
    std::vector<float> scales;
    int skipped = 0;
    for (int i = 0; i < 40; ++i) {
      auto const r = run(x);
      scales.push_back(r.loss_scale);
      skipped += !std::isfinite(static_cast<float>(r.gradient_norm));
      CHECK((run.read() == before) == (skipped == i + 1));
    }
    CHECK(skipped > 10);
    CHECK(skipped < 38);
    auto const after = run.read();
    return std::pair(scales, std::vector<double>(after.begin(), after.end()));
  };
  auto const device = trained(std::type_identity<interpreted>{}), processor = trained(std::type_identity<cpu>{});
  CHECK(device.first == processor.first);
  CHECK(distance(device.second, processor.second) < 2e-2);
}
