// One model of bench_step: an encoder with a two-class head, as the comparison scripts of other frameworks train it. Compiled
// once per model, with its sizes as macros.
#include "model.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/exec/executor.hpp>
#include <tx/nn/bert.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/train/step.hpp>

#include <algorithm>
#include <chrono>
#include <random>

namespace {

struct config {
  static constexpr int layers = TX_LAYERS, hidden = TX_HIDDEN, heads = TX_HEADS, ffn = TX_FFN;
  static constexpr int vocabulary = 30522, positions = 512, types = 2;
};
constexpr auto loss = [](auto const& model, tx::tensor<tx::i32, TX_BATCH, TX_SEQ> ids, tx::tensor<tx::i32, TX_BATCH> labels) {
  return tx::cross_entropy(model(ids), labels);
};
using step = tx::train_step<tx::nn::bert_classifier<config, 2>, loss, tx::adamw>;

double seconds_of(auto const& work) {
  auto const start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

bench::timing TX_RUN(bench::options const& o) {
  bench::timing t{.batch = TX_BATCH, .seq = TX_SEQ, .planned_peak = step::memory.peak};
  std::mt19937 random(1);
  std::vector<tx::i32> ids(TX_BATCH * TX_SEQ);
  std::vector<tx::i32> labels(TX_BATCH);
  auto const fresh = [&] {
    for (auto& id : ids) id = static_cast<tx::i32>(random() % config::vocabulary);
    for (auto& y : labels) y = static_cast<tx::i32>(random() % 2);
  };
  std::optional<tx::executor<step, tx::cpu>> run;
  t.first_step = seconds_of([&] {
    run.emplace(tx::seed(0), tx::run_options{.threads = o.threads});
    run->settings.learning_rate = 1e-4f;
    run->settings.dropout = o.dropout;
    fresh();
    t.losses.push_back((*run)(ids, labels).loss);
  });
  for (int i = 0; i <= o.steps; ++i) {  // the first of these warms up
    fresh();
    double const s = seconds_of([&] { t.losses.push_back((*run)(ids, labels).loss); });
    if (i > 0) t.seconds.push_back(s);
  }
  return t;
}
