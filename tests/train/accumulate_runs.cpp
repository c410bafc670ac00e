// accumulate_runs<N>: N runs are one update, by the mean of their gradients.
#include "../io/temp_folder.hpp"
#include "small_net.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/io/checkpoint.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/adafactor.hpp>
#include <tx/train/averaged.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>

namespace {

constexpr int runs = 3;

template <class Optimizer, class... Options>
using in_runs = tx::train_step<small::net<float>, small::loss<float>, Optimizer, tx::accumulate_runs<runs>, Options...>;
// The same batches at once, whose parts are summed in the same order.
template <class Optimizer, class... Options>
using at_once = tx::train_step<small::net<float>, small::loss<float>, Optimizer, tx::accumulate<runs>, Options...>;

std::vector<float> batch(int t) { return small::batch<float>(t); }
std::vector<float> batches(int t) {
  std::vector<float> all;
  for (int k = 0; k < runs; ++k) std::ranges::copy(batch(t + k), std::back_inserter(all));
  return all;
}
template <class Run>
std::vector<float> parameters(Run const& run) {
  return {run.elements().begin(), run.elements().end()};
}

template <class Optimizer, class Backend, class... Options>
void check_like_at_once() {
  tx::executor<in_runs<Optimizer, Options...>, Backend> few{tx::seed(3)};
  tx::executor<at_once<Optimizer, Options...>, Backend> one{tx::seed(3)};
  few.settings["learning_rate"] = one.settings["learning_rate"] = 0.03f;
  for (int t = 0; t < 5 * runs; t += runs) {
    std::vector<float> const before = parameters(few);
    double losses = 0;
    for (int k = 0; k < runs; ++k) {
      CHECK(parameters(few) == before);  // until the last run has ended
      losses += static_cast<double>(few(batch(t + k)).loss);
    }
    CHECK(static_cast<double>(one(batches(t)).loss) == Approx(losses / runs).epsilon(1e-6));
    CHECK(parameters(few) != before);
    auto const x = parameters(few), y = parameters(one);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(y[i]).epsilon(1e-5).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("so many runs are one update by the mean of their gradients") {
  check_like_at_once<tx::adamw, tx::cpu>();
  check_like_at_once<tx::adamw, tx::reference>();
  check_like_at_once<tx::lamb, tx::cpu>();
  check_like_at_once<tx::adafactor, tx::cpu>();
  check_like_at_once<tx::averaged<tx::adamw>, tx::cpu>();
}

TEST_CASE("what is clipped is the mean over runs") {
  check_like_at_once<tx::adamw, tx::cpu, tx::clip_gradient>();
  check_like_at_once<tx::lamb, tx::cpu, tx::clip_gradient>();
}

TEST_CASE("updates go on however many runs there have been, and schedules count them") {
  tx::executor<in_runs<tx::adamw>, tx::cpu> run{tx::seed(3)};
  for (std::int64_t const first : {std::int64_t{9'000'000}, std::int64_t{16'777'215}, std::int64_t{1} << 40}) {
    run.restore(first / runs * runs, 3);
    int updates = 0;
    for (int t = 0; t < 4 * runs; ++t) {
      auto const before = parameters(run);
      run(batch(t));
      bool const changed = parameters(run) != before;
      CHECK(changed == (t % runs == runs - 1));
      updates += changed;
    }
    CHECK(updates == 4);
  }
  tx::executor<in_runs<tx::sgd>, tx::cpu> warm{tx::seed(3)}, cold{tx::seed(3)};
  warm.settings.schedule = {.warmup = 2};  // the first update has half the rate, the second all of it
  for (auto* r : {&warm, &cold}) r->settings["learning_rate"] = 0.01f;
  auto const before = parameters(warm);
  for (int t = 0; t < runs; ++t) warm(batch(t)), cold(batch(t));
  auto const a = parameters(warm), b = parameters(cold);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] - before[i] == Approx((b[i] - before[i]) / 2).epsilon(1e-3).margin(1e-6));
}

namespace {
struct half_frozen {
  tx::frozen_module<small::layer<float>> still;
  small::layer<float> moves;
};
constexpr auto through_both = [](half_frozen const& m, tx::tensor<float, small::rows, small::width> x) {
  auto const y = m.moves(m.still.body(x));
  return tx::mean(y * y);
};
}  // namespace

TEST_CASE("frozen parameters have no sum") {
  tx::executor<tx::train_step<half_frozen, through_both, tx::adamw, tx::accumulate_runs<runs>>, tx::cpu> few{tx::seed(4)};
  tx::executor<tx::train_step<half_frozen, through_both, tx::adamw, tx::accumulate<runs>>, tx::cpu> one{tx::seed(4)};
  for (int t = 0; t < 2 * runs; t += runs) {
    for (int k = 0; k < runs; ++k) few(batch(t + k));
    one(batches(t));
  }
  auto const a = parameters(few), b = parameters(one);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-5).margin(1e-6));
}

TEST_CASE("the norm that a run hands back is that of the sum so far over the number of runs") {
  tx::executor<in_runs<tx::adamw, tx::gradient_norm>, tx::cpu> few{tx::seed(3)};
  tx::executor<at_once<tx::adamw, tx::gradient_norm>, tx::cpu> one{tx::seed(3)};
  for (int k = 0; k + 1 < runs; ++k) few(batch(k));
  CHECK(few(batch(runs - 1)).gradient_norm == Approx(one(batches(0)).gradient_norm).epsilon(1e-6));
}

TEST_CASE("the sum is a state of the step, which a checkpoint has between two updates") {
  using step = in_runs<tx::adamw>;
  static_assert(step::states == 3);
  static_assert(step::memory.optimizer == 3 * step::memory.parameters);
  temp_folder folder;
  tx::executor<step, tx::cpu> whole{tx::seed(7)}, again{tx::seed(8)};
  for (int t = 0; t < 4; ++t) whole(batch(t));
  tx::io::save_checkpoint(folder / "state", whole);
  for (int t = 4; t < 9; ++t) whole(batch(t));
  tx::io::load_checkpoint(folder / "state", again);
  for (int t = 4; t < 9; ++t) again(batch(t));
  CHECK(parameters(again) == parameters(whole));
  tx::executor<tx::train_step<small::net<float>, small::loss<float>, tx::adamw, tx::accumulate_runs<4>>, tx::cpu> other{tx::seed(7)};
  CHECK_THROWS_WITH(tx::io::load_checkpoint(folder / "state", other), Catch::Contains("every 3 runs") && Catch::Contains("every 4 runs"));
}

TEST_CASE("parameters of a step of several runs are trained by no other step") {
  using namespace tx;
  using other_loss = train_step<small::net<float>, small::loss<float, peel::none, 2>, sgd, accumulate_runs<runs>>;
  executor<in_runs<sgd>, cpu> first{seed(3)};
  executor<in_runs<sgd>, cpu> same{first, run_options{}};
  CHECK_NOTHROW(same(batch(0)));
  CHECK_THROWS_WITH((executor<other_loss, cpu>{first}), Catch::Contains("are those of one step. FIX: parameters of its own"));
  CHECK_THROWS_WITH((executor<train_step<small::net<float>, small::loss<float>, sgd>, cpu>{first}), Catch::Contains("are those of one step"));
  executor<train_step<small::net<float>, small::loss<float>, adamw>, cpu> plain{seed(3)};
  CHECK_THROWS_AS((executor<in_runs<sgd>, cpu>{plain}), value_error);
  CHECK_NOTHROW((executor<train_step<small::net<float>, small::loss<float, peel::none, 2>, adamw>, cpu>{plain}));
}

namespace {
constexpr int most = 8;
struct told {
  tx::param<tx::tensor<float, 4, 3>> w;
};
constexpr auto told_loss = [](told const& m, tx::tensor<float, tx::dyn<most>, 4> x, tx::tensor<tx::i32, tx::dyn<most>> label) { return tx::cross_entropy(tx::matmul(x, m.w), label); };
constexpr auto fixed_loss = [](told const& m, tx::tensor<float, 3, 4> x, tx::tensor<tx::i32, 3> label, tx::tensor<float, 5, 4> y, tx::tensor<tx::i32, 5> of_y) {
  return (tx::cross_entropy(tx::matmul(x, m.w), label) + tx::cross_entropy(tx::matmul(y, m.w), of_y)) * 0.5;
};
}  // namespace

TEST_CASE("batches of other extents in each run count alike") {
  tx::executor<tx::train_step<told, told_loss, tx::adamw, tx::accumulate_runs<2>>, tx::cpu> few{tx::seed(5)};
  tx::executor<tx::train_step<told, fixed_loss, tx::adamw>, tx::cpu> one{tx::seed(5)};
  for (int t = 0; t < 4; ++t) {
    std::vector<float> x(8 * 4);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(t) * 5) % 11) * 0.2f - 1;
    std::vector<int> const labels{0, 1, 2, 2, 1, 0, 1, 2};
    std::span<float const> const all(x);
    std::span<int const> const of_all(labels);
    few(all.first(12), of_all.first(3));
    few(all.subspan(12), of_all.subspan(3));
    one(all.first(12), of_all.first(3), all.subspan(12), of_all.subspan(3));
    auto const a = parameters(few), b = parameters(one);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-5).margin(1e-6));
  }
}
