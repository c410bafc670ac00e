// Gradients of a multiple of the loss: the same bits where it is a power of two, smaller ones than halves hold, and steps that are skipped.
#include "../io/temp_folder.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/io/checkpoint.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/loss_scale.hpp>
#include <tx/train/options.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace {

constexpr int rows = 8, width = 16;

struct block {
  tx::nn::linear<width, width> inner;
  constexpr auto operator()(auto const& x) const { return x + tx::tanh(inner(x)); }
};
struct net {
  tx::repeat<3, block> blocks;
  tx::nn::linear<width, 2> head;
};
template <int Rows>
constexpr auto loss = [](net const& m, tx::tensor<float, Rows, width> x) {
  auto const y = m.head(m.blocks(x));
  return tx::mean(y * y);
};
template <int Rows, class Optimizer, class... Options>
using step = tx::train_step<net, loss<Rows>, Optimizer, Options...>;

// Of many rows of the flat block.
struct wide_block {
  tx::nn::linear<128, 128> inner;
  constexpr auto operator()(auto const& x) const { return x + tx::tanh(inner(x)); }
};
struct wide_net {
  tx::repeat<3, wide_block> blocks;
};
constexpr auto wide_loss = [](wide_net const& m, tx::tensor<float, 8, 128> x) { return tx::mean(m.blocks(x)); };

// So small that halves of its gradients are nothing, or a few bits.
constexpr auto small_loss = [](net const& m, tx::tensor<float, rows, width> x) { return loss<rows>(m, x) * 1e-6; };

std::vector<float> batch(int count) {
  std::vector<float> x(static_cast<std::size_t>(count * width));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  return x;
}

struct told {
  std::vector<float> losses, norms, parameters;
  bool operator==(told const&) const = default;
};
template <class Step>
told runs(int count, std::vector<float> const& x, float scale = 0) {
  tx::executor<Step, tx::cpu> run{tx::seed(3)};
  if (scale > 0) run.settings.set("loss_scale", scale);
  told t;
  for (int i = 0; i < count; ++i) {
    auto const r = run(x);
    t.losses.push_back(r.loss);
    t.norms.push_back(r.gradient_norm);
  }
  t.parameters = run.read();
  return t;
}
// Whatever else a step is told. Norms are sums in another order where all gradients wait for them.
template <int Rows, class Optimizer, class... Options>
void check_same_bits(int batches = 1) {
  auto const x = batch(Rows * batches);
  using scaled = step<Rows, Optimizer, tx::loss_scale, Options...>;
  told const by_one = runs<scaled>(4, x, 1), without = runs<step<Rows, Optimizer, tx::gradient_norm, Options...>>(4, x);
  for (float scale : {256.0f, 65536.0f}) CHECK(runs<scaled>(4, x, scale) == by_one);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(by_one.losses[i] == Approx(without.losses[i]).epsilon(1e-6));
    CHECK(by_one.norms[i] == Approx(without.norms[i]).epsilon(1e-5));
  }
  for (std::size_t i = 0; i < by_one.parameters.size(); ++i) REQUIRE(std::abs(by_one.parameters[i] - without.parameters[i]) < 1e-6f);
}

}  // namespace

TEST_CASE("a multiple of the loss that is a power of two changes no bit") {
  check_same_bits<rows, tx::adamw>();
  check_same_bits<rows, tx::sgd, tx::clip_gradient>();
  check_same_bits<rows, tx::adamw, tx::mixed<tx::bf16>>();
  check_same_bits<rows, tx::adamw, tx::accumulate<2>>(2);
  check_same_bits<rows, tx::adamw, tx::accumulate_runs<2>>();
  check_same_bits<rows, tx::adamw, tx::virtual_shards<2>>(2);
}

TEST_CASE("gradients that are too small for halves") {
  auto const x = batch(rows);
  auto const norm = [&]<class... Options>(std::type_identity<std::tuple<Options...>>) { return runs<tx::train_step<net, small_loss, tx::sgd, Options...>>(1, x).norms[0]; };
  float const exact = norm(std::type_identity<std::tuple<tx::gradient_norm>>{});
  float const lost = norm(std::type_identity<std::tuple<tx::gradient_norm, tx::mixed<tx::f16>>>{});
  float const scaled = norm(std::type_identity<std::tuple<tx::loss_scale, tx::mixed<tx::f16>>>{});
  CHECK(std::abs(lost - exact) > 0.02f * exact);
  CHECK(std::abs(scaled - exact) < 0.002f * exact);
}

TEST_CASE("a step whose gradients are not finite changes nothing, and the next ones go on") {
  auto const x = batch(rows);
  auto const check = [&]<class Step>(std::type_identity<Step>) {
    tx::executor<Step, tx::cpu> run{tx::seed(3)};
    run.settings.set("loss_scale_interval", 0.0f);
    run.settings.set("loss_scale", 65536.0f);
    CHECK(std::isfinite(static_cast<float>(run(x).gradient_norm)));
    auto const before = run.read(), first = run.read(1), second = run.read(2);
    run.settings.set("loss_scale", 0x1p127f);
    auto const r = run(x);
    CHECK(!std::isfinite(static_cast<float>(r.gradient_norm)));
    CHECK(std::isfinite(static_cast<float>(r.loss)));  // which is told as it is
    CHECK(run.read() == before);
    CHECK(run.read(1) == first);
    CHECK(run.read(2) == second);
    run.settings.set("loss_scale", 1024.0f);
    run(x);
    CHECK(run.read() != before);
  };
  check(std::type_identity<step<rows, tx::adamw, tx::loss_scale, tx::mixed<tx::f16>>>{});
  check(std::type_identity<step<rows, tx::adamw, tx::loss_scale, tx::mixed<tx::f16>, tx::clip_gradient>>{});
}

TEST_CASE("gradients of a multiple need no more memory than those that are clipped") {
  auto const gradients = []<class... Options>(std::type_identity<std::tuple<Options...>>) { return tx::train_step<wide_net, wide_loss, tx::adamw, Options...>::memory.gradients; };
  CHECK(1.0 * gradients(std::type_identity<std::tuple<tx::loss_scale>>{}) <= 1.03 * gradients(std::type_identity<std::tuple<tx::clip_gradient>>{}));
  CHECK(1.0 * gradients(std::type_identity<std::tuple<tx::loss_scale, tx::accumulate<4>>>{}) <= 1.03 * gradients(std::type_identity<std::tuple<tx::clip_gradient, tx::accumulate<4>>>{}));
}

namespace {
float scale_of(auto const& result) { return result.loss_scale; }
}  // namespace

TEST_CASE("a scale falls where steps are skipped, and rises where they are not") {
  tx::executor<step<rows, tx::sgd, tx::loss_scale>, tx::cpu> run{tx::seed(3)};
  run.settings.set("loss_scale", 0x1p127f);
  run.settings.set("loss_scale_interval", 3.0f);
  auto const x = batch(rows);
  auto const before = run.read();
  float scale = 0x1p127f;
  int skipped = 0;
  for (;; ++skipped, scale /= 2) {  // until gradients are finite
    auto const r = run(x);
    REQUIRE(scale_of(r) == scale);
    if (std::isfinite(static_cast<float>(r.gradient_norm))) break;
    REQUIRE(run.read() == before);
  }
  CHECK(skipped > 0);
  CHECK(run.read() != before);
  CHECK(scale > 0x1p24f);  // where none is higher that rises
  for (int i = 0; i < 8; ++i) CHECK(scale_of(run(x)) == scale);
}

TEST_CASE("a scale has limits, and counts updates anew behind each change") {
  tx::executor<step<rows, tx::sgd, tx::loss_scale>, tx::cpu> run{tx::seed(3)};
  run.settings.set("loss_scale", 0x1p21f);
  run.settings.set("loss_scale_interval", 3.0f);
  auto const x = batch(rows);
  auto bad = x;
  bad[5] = std::numeric_limits<float>::infinity();
  std::vector<float> const good_runs{0x1p21f, 0x1p21f, 0x1p21f, 0x1p22f, 0x1p22f, 0x1p22f, 0x1p23f, 0x1p23f};
  for (float wanted : good_runs) CHECK(scale_of(run(x)) == wanted);
  CHECK(scale_of(run(bad)) == 0x1p23f);
  for (float wanted : {0x1p22f, 0x1p22f, 0x1p22f, 0x1p23f, 0x1p23f, 0x1p23f, 0x1p24f, 0x1p24f, 0x1p24f, 0x1p24f, 0x1p24f}) CHECK(scale_of(run(x)) == wanted);
  for (float wanted = 0x1p24f; wanted > 1; wanted /= 2) CHECK(scale_of(run(bad)) == wanted);
  for (int i = 0; i < 3; ++i) CHECK(scale_of(run(bad)) == 1);
}

TEST_CASE("a scale with an interval of 0 is what the setting says") {
  tx::executor<step<rows, tx::sgd, tx::loss_scale>, tx::cpu> run{tx::seed(3)};
  auto const x = batch(rows);
  run(x);
  run.settings.set("loss_scale_interval", 0.0f);
  for (float wanted : {8.0f, 0x1p30f, 2.0f}) {
    run.settings.set("loss_scale", wanted);
    CHECK(scale_of(run(x)) == wanted);
  }
  run.settings.set("loss_scale_interval", 3.0f);  // what was kept, with the update that was counted
  for (float wanted : {0x1p16f, 0x1p16f, 0x1p17f}) CHECK(scale_of(run(x)) == wanted);
}

TEST_CASE("a scale that changes from update to update, of several runs each") {
  tx::executor<step<rows, tx::sgd, tx::loss_scale, tx::accumulate_runs<2>>, tx::cpu> run{tx::seed(3)};
  run.settings.set("loss_scale", 64.0f);
  run.settings.set("loss_scale_interval", 2.0f);
  auto const x = batch(rows);
  auto bad = x;
  bad[5] = std::numeric_limits<float>::infinity();
  for (float wanted : {64.0f, 64.0f, 64.0f, 64.0f, 128.0f}) CHECK(scale_of(run(x)) == wanted);
  CHECK(scale_of(run(bad)) == 128);  // the second of its update
  CHECK(scale_of(run(bad)) == 64);   // the first
  CHECK(scale_of(run(x)) == 64);     // the sum has the infinity of its first run
  CHECK(scale_of(run(x)) == 32);
}

TEST_CASE("a scale goes on from a checkpoint, with the updates that count") {
  using scaled = step<rows, tx::adamw, tx::loss_scale, tx::mixed<tx::f16>>;
  tx::executor<scaled, tx::cpu> one{tx::seed(3)}, other{tx::seed(4)};
  auto const x = batch(rows);
  one.settings.set("loss_scale_interval", 4.0f);
  for (int i = 0; i < 6; ++i) one(x);
  temp_folder const into;
  auto const folder = into / "checkpoints";
  tx::io::save_checkpoint(folder, one);
  tx::io::load_checkpoint(folder, other);
  for (int i = 0; i < 5; ++i) {
    auto const a = one(x), b = other(x);
    CHECK(scale_of(a) == (i < 2 ? 0x1p17f : 0x1p18f));
    CHECK(scale_of(b) == scale_of(a));
  }
  CHECK(one.read() == other.read());
  CHECK(one.read(3) == other.read(3));
  CHECK(one.tensors(3)[0].name == "step");

  tx::executor<step<rows, tx::adamw, tx::gradient_norm, tx::mixed<tx::f16>>, tx::cpu> without{tx::seed(4)};
  CHECK_THROWS_WITH(tx::io::load_checkpoint(folder, without), Catch::Matchers::Contains("loss scaled"));
}

TEST_CASE("a scale that is none is refused") {
  tx::executor<step<rows, tx::sgd, tx::loss_scale>, tx::cpu> run{tx::seed(3)};
  for (float wrong : {0.0f, -1.0f, std::numeric_limits<float>::infinity()}) {
    run.settings.set("loss_scale", wrong);
    CHECK_THROWS_WITH(run(batch(rows)), Catch::Matchers::Contains("loss_scale"));
  }
}
