// A run of training in a folder: shuffled batches, validation with the best state kept, checkpoints, metrics. Here it is stopped half way, as by
// Ctrl-C, and resumed; it ends in the same bits as a run that was left alone.
#include <tx/backends/cpu.hpp>
#include <tx/train/loop/fit.hpp>
#include <tx/train/loop/shuffled_rows.hpp>
#include <tx/tx.hpp>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <vector>

// Is a point within a circle?
struct circle {
  tx::nn::linear<2, 32, tx::init::normal<4, 1>> hidden;
  tx::nn::linear<32, 2> out;
  constexpr auto operator()(auto const& x) const { return out(tx::dropout(tx::tanh(hidden(x)), 0.1)); }
};
template <int Rows>
inline constexpr auto loss = [](circle const& m, tx::tensor<float, Rows, 2> x, tx::tensor<tx::i32, Rows> y) { return tx::cross_entropy(m(x), y); };

using step = tx::train_step<circle, loss<32>, tx::adamw>;
using judge = tx::function<loss<256>, circle>;  // drops nothing

struct points {
  std::vector<float> x;  // [count, 2]
  std::vector<tx::i32> inside;
  points(std::size_t count, std::uint64_t seed) {
    tx::train::random_numbers random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      float const a = static_cast<float>(random.below(2001)) / 1000 - 1, b = static_cast<float>(random.below(2001)) / 1000 - 1;
      x.insert(x.end(), {a, b});
      inside.push_back(std::hypot(a, b) < 0.7f);
    }
  }
};

// `stop_at`: the step behind which somebody presses Ctrl-C; none: -1. Returns the parameters.
std::vector<float> train(std::filesystem::path const& folder, std::int64_t stop_at) {
  points const seen(2000, 1), unseen(256, 2);
  tx::executor<step, tx::cpu> run{tx::seed(0)};
  tx::executor<judge, tx::cpu> judges{run};
  tx::train::shuffled_rows data({.rows = 2000, .batch = 32, .seed = 3}, seen.x, seen.inside);
  auto const length = tx::train::in_epochs(20, data.size(), data.batch());
  run.settings["learning_rate"] = 2e-2f;
  run.settings.schedule = {tx::decay_shape::cosine, 50, length.steps};

  auto const dev_loss = [&] {
    if (run.steps_run() == stop_at) std::raise(SIGINT);
    return static_cast<double>(judges(unseen.x, unseen.inside).value);
  };
  tx::train::loop_options const options{
      .folder = folder,                             // checkpoints/ and metrics.jsonl
      .resume = true, .or_begin = true,             // from the newest checkpoint, if there is one
      .checkpoints = {.every = 100, .best = true},  // the two newest, and the best
      .validate = dev_loss,
      .patience = 10};                              // validations without a better one
  tx::train::phase const all{.lasts = length, .validations = {.steps = 125}};
  auto const result = tx::train::fit(run, data, all, options);  // leaves the best state in `run`
  std::printf("%lld steps, best loss on unseen points %.4f at step %lld\n", static_cast<long long>(result.steps), *result.best,
              static_cast<long long>(result.best_step));
  return *result.best < 0.2 ? run.read() : std::vector<float>{};
}

int main() {
  std::filesystem::path const folder = "circle";  // where the program runs
  std::filesystem::remove_all(folder);
  auto const whole = train(folder / "whole", -1);
  bool was_stopped = false;
  try {
    train(folder / "cut", 750);
  } catch (tx::train::stopped const& s) {
    std::printf("%s\n", s.what());
    was_stopped = true;
  }
  auto const resumed = train(folder / "cut", -1);
  std::filesystem::remove_all(folder);
  std::printf("%s\n", whole == resumed ? "the same bits" : "other bits");
  return was_stopped && !whole.empty() && whole == resumed ? 0 : 1;
}
