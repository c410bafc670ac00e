// States that lie in the host's memory beside a device: what is trained is the same, and the device has so much less.
#include "interpreter.hpp"

#include <tx/backends/cpu/target.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/options.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

struct block {
  param<tensor<float, 24, 24>> w;
  param<tensor<float, 24>> b;
  constexpr auto operator()(auto const& x) const { return x + matmul(x, w) + b; }
};
struct net {
  repeat<2, block> body;
  param<tensor<float, 24, 3>> last;
};
constexpr auto loss = [](net const& m, tensor<float, 5, 24> x) {
  auto const y = matmul(m.body(x), m.last);
  return mean(y * y);
};
template <class... Options>
using step = train_step<net, loss, adamw, clip_gradient, accumulate_runs<2>, Options...>;

// A device that tells how much of the host's memory it uses.
std::int64_t on_host = 0, on_device = 0;
struct counted : interpreted {
  static std::byte* allocate(std::int64_t count) { return on_device += count, interpreted::allocate(count); }
  static void release(std::byte* p, std::int64_t count) { on_device -= count, interpreted::release(p, count); }
  static std::byte* allocate_on_host(std::int64_t count) { return on_host += count, interpreted::allocate(count); }
  static void release_on_host(std::byte* p, std::int64_t count) { on_host -= count, interpreted::release(p, count); }
};

template <class Run>
auto trained(Run& run) {
  run.settings["learning_rate"] = 0.1f;
  std::vector<float> x(5 * 24);
  std::vector<float> told;
  for (int s = 0; s < 4; ++s) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(s)) % 11) * 0.2f - 1;
    told.push_back(run(x).loss);
  }
  for (int k = 0; k <= run.states(); ++k)
    for (float v : run.read(k)) told.push_back(v);
  return told;
}

}  // namespace

TEST_CASE("states on the host train the same bits, in the memory that the plan says") {
  using plain = step<>;
  using offloaded = step<offload>;
  constexpr auto all = plain::memory_on<cuda_target>, less = offloaded::memory_on<cuda_target>;
  STATIC_REQUIRE(less.on_host == all.optimizer);
  STATIC_REQUIRE(less.peak == all.peak - all.optimizer);
  STATIC_REQUIRE(all.on_host == 0);
  STATIC_REQUIRE(offloaded::memory_on<cpu_target>.peak == plain::memory_on<cpu_target>.peak);

  std::int64_t of_plain = 0;
  std::vector<float> wanted;
  {
    executor<plain, counted> run{seed(3)};
    CHECK(on_host == 0);
    of_plain = on_device;
    wanted = trained(run);
  }
  executor<offloaded, counted> run{seed(3)};
  CHECK(on_host == less.on_host);
  CHECK(on_device == of_plain - all.optimizer);
  CHECK(trained(run) == wanted);

  auto const moments = run.read(1);
  CHECK(moments != std::vector<float>(moments.size(), 0.0f));
  run.reset_optimizer();
  CHECK(run.read(1) == std::vector<float>(moments.size(), 0.0f));
  run.write(moments, 1);
  CHECK(run.read(1) == moments);
  CHECK_THROWS_AS((executor<plain, counted>{run}), value_error);  // whose states lie elsewhere
}

TEST_CASE("a device without memory of the host's keeps all itself, and the host's own backend does") {
  executor<step<>, interpreted> plain{seed(3)};
  executor<step<offload>, interpreted> run{seed(3)};
  CHECK(trained(run) == trained(plain));
}
