// The loss's scale is a state of the step, which ranks have alike however they divide the others: a batch that is not finite on one rank halves it on all.
#include "divided.hpp"

#include <tx/train/loss_scale.hpp>

#include <limits>
#include <utility>

using namespace divided;

namespace {

// What the last rank is told of scales, and all parameters.
template <class Step, int Ranks>
auto trained_by() {
  return on_ranks(Ranks, [](dist::local& rank) {
    executor<Step, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    run.settings.set("loss_scale_interval", 2.0f);
    constexpr int shards = 2 / Ranks;
    std::vector<float> scales;
    for (int s = 0; s < 7; ++s) {
      auto x = batch<float>(s, rank.rank() * shards * rows, shards * rows);
      if (s == 3 && rank.rank() == Ranks - 1) x.back() = std::numeric_limits<float>::infinity();
      scales.push_back(run(x).loss_scale);
    }
    return std::pair(scales, run.read());
  });
}
template <class... Division>
using scaled = step<float, adamw, Division..., loss_scale, mixed<f16>>;

}  // namespace

TEST_CASE("ranks that divide states have one scale of the loss") {
  auto const wanted = trained_by<scaled<virtual_shards<2>>, 1>()[0];
  CHECK(wanted.first == std::vector<float>{0x1p16f, 0x1p16f, 0x1p17f, 0x1p17f, 0x1p16f, 0x1p16f, 0x1p17f});
  auto const check = [&](auto const& of_ranks) {
    for (auto const& [scales, parameters] : of_ranks) {
      CHECK(scales == wanted.first);
      CHECK(parameters == wanted.second);
    }
  };
  check(trained_by<scaled<data_parallel<2>>, 2>());
  check(trained_by<scaled<data_parallel<2>, zero<1>>, 2>());
  check(trained_by<scaled<data_parallel<2>, zero<3>>, 2>());
}
