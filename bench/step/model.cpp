// One model of bench_step. Compiled once per model.
#include "step.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/inspect/profile.hpp>
#include <tx/io/chrome_trace.hpp>
#include <tx/io/parameters.hpp>
#include <tx/run/executor.hpp>

#include <algorithm>
#include <chrono>
#include <random>

namespace {

double seconds_of(auto const& work) {
  auto const start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Every parameter decays and has the one rate, as in the frameworks compared with.
void set_up(auto& run, bench::options const& o) {
  run.settings["learning_rate"] = 1e-4f;
  run.settings.set("dropout", o.check.empty() ? o.dropout : 0.0f);
  for (auto& group : run.settings.groups) group = {1.0f, 0.01f};
}

struct batches {
  std::mt19937 random{1};
  std::vector<tx::i32> ids = std::vector<tx::i32>(TX_BATCH * TX_SEQ);
  std::vector<tx::i32> labels = std::vector<tx::i32>(TX_BATCH);

  void next() {
    for (auto& id : ids) id = static_cast<tx::i32>(random() % config::vocabulary);
    for (auto& y : labels) y = static_cast<tx::i32>(random() % 2);
  }
};

// Ten losses from weights and batches that another framework can read: model.safetensors, batches.safetensors.
void check(auto& run, bench::options const& o, bench::timing& t) {
  constexpr int steps = 10;
  tx::io::save_parameters(o.check + "/model.safetensors", run.tensors());
  std::vector<tx::i32> ids;
  std::vector<tx::i32> labels;
  batches b;
  for (int i = 0; i < steps; ++i) {
    b.next();
    ids.insert(ids.end(), b.ids.begin(), b.ids.end());
    labels.insert(labels.end(), b.labels.begin(), b.labels.end());
    t.losses.push_back(run(b.ids, b.labels).loss);
  }
  std::vector<tx::io::tensor_info> const tensors{
      {"ids", tx::dtype::i32, {steps, TX_BATCH, TX_SEQ}, std::as_bytes(std::span<tx::i32 const>(ids))},
      {"labels", tx::dtype::i32, {steps, TX_BATCH}, std::as_bytes(std::span<tx::i32 const>(labels))}};
  tx::io::write_safetensors(o.check + "/batches.safetensors", tensors, {});
}

}  // namespace

bench::timing TX_RUN(bench::options const& o) {
  bench::timing t{.batch = TX_BATCH, .seq = TX_SEQ, .planned_peak = step::memory.peak, .activations = step::memory.activations,
                  .recomputed_flops = step::memory.recomputed_flops};
  batches b;
  std::optional<tx::executor<step, tx::cpu>> run;
  auto const one = [&] {
    b.next();  // drawing the batch is not timed
    return seconds_of([&] { t.losses.push_back((*run)(b.ids, b.labels).loss); });
  };
  t.first_step = seconds_of([&] {
    run.emplace(tx::seed(0), tx::run_options{.threads = o.threads});
    set_up(*run, o);
    if (o.check.empty()) one();
  });
  if (!o.check.empty()) {
    check(*run, o, t);
    return t;
  }
  one();  // warms up
  if (!o.profile.empty() || !o.page.empty()) {
    tx::exec::kernel_log log;
    run->profile(&log);
    one();
    run->profile(nullptr);
    if (!o.profile.empty()) tx::io::write_trace(o.profile, tx::profile_of<step>(log));
    if (!o.page.empty()) TX_PAGE(o.page, tx::seconds_of<step>(log));
  }
  auto const steps = [&](int count) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += t.seconds.emplace_back(one());
    return sum;
  };
  double const few = steps(o.steps);
  double const many = steps(3 * o.steps);
  t.difference = (many - few) / (2 * o.steps);
  return t;
}
