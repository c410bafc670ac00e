// device_step_NAME_BATCH_TOKENS [--steps N] [--profile] [--repeat]: times a compiled training step on a device and prints a JSON line: how long a step takes whose loss is waited for, and how
// long the host is busy with starting one. With --profile, behind it a line for each kind of kernels of one step, by the device's own clock and as inspect/roofline.hpp predicts it where the rates
// of the device are known, and a line for each kernel, the longest first: milliseconds, calls, GB/s and TFLOP/s by what the plan says it moves and computes. With --repeat all
// of it is left out; two executors train so many steps from one seed, and losses and parameters have to be the same bit by bit.
#if TX_E4M3
#include <tx/backends/cuda_blas.hpp>
using backend = tx::cuda_blas_fp8;
#elif TX_BLAS
#include <tx/backends/cuda_blas.hpp>
using backend = tx::cuda_blas;
#else
#include <tx/backends/cuda.hpp>
using backend = tx::cuda;
#endif

#include "kernel_times.hpp"

#include <tx/backends/cuda/kernel_cost.hpp>
#include <tx/inspect/profile.hpp>
#include <tx/inspect/roofline.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <tuple>

// Sizes are macros, as those of bench_step. In no unnamed namespace, whose members nvcc cannot name.
struct config {
  static constexpr int layers = TX_LAYERS, hidden = TX_HIDDEN, heads = TX_HEADS, ffn = TX_FFN;
#if defined(TX_VOCABULARY)
  static constexpr int vocabulary = TX_VOCABULARY;
#else
  static constexpr int vocabulary = 30522;
#endif
  static constexpr int positions = 512, types = 2;
};
constexpr auto loss = [](auto const& model, tx::tensor<tx::i32, TX_BATCH, TX_SEQ> ids, tx::tensor<tx::i32, TX_BATCH> labels) {
  return tx::cross_entropy(model(ids), labels);
};
template <class... Options>
using step_with = tx::train_step<tx::nn::bert_classifier<config, 2>, loss, tx::adamw, Options...>;
#if TX_E4M3
using step = step_with<tx::mixed<tx::e4m3>>;
#elif TX_BF16
using step = step_with<tx::mixed<tx::bf16>>;
#else
using step = step_with<>;
#endif

namespace {

struct sum_of_kernels {
  double seconds = 0;
  std::int64_t calls = 0, flops = 0, bytes = 0;
};

// What a kernel is about, as far as it says how long it takes.
char const* kind_of(std::string_view name) {
  auto const has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (name.starts_with("matmul")) return "products";
  if (has("attention")) return "attention";
  if (has("embedding") || has("scatter")) return "look-ups";
  if (has("col_sum")) return "sums over rows";
  if (has("row_")) return "rows";
  return has("sqrt") ? "updates" : "elements";
}
// Null: what such a device does in a second is not known.
tx::device_rates const* rates_of(std::string_view device) {
  if (device.find("H200") != std::string_view::npos) return &tx::h200;
  return device.find("H100") != std::string_view::npos ? &tx::h100 : nullptr;
}
struct sum_of_kind {
  std::int64_t calls = 0;
  double measured = 0, predicted = 0;
};
void print_kind(char const* what, sum_of_kind const& s, bool known) {
  std::printf("{\"kind\": \"roofline\", \"model\": \"%s\", \"batch\": %d, \"seq\": %d, \"what\": \"%s\", \"calls\": %lld, \"measured_s\": %.6f", TX_MODEL, TX_BATCH, TX_SEQ, what,
              static_cast<long long>(s.calls), s.measured);
  if (known) std::printf(", \"predicted_s\": %.6f, \"measured_over_predicted\": %.3f", s.predicted, s.measured / s.predicted);
  std::puts("}");
}
// Of kinds of kernels, of all kernels, and of a step as it is run, captured.
void print_kinds(tx::exec::kernel_log const& log, std::string_view device, double whole) {
  tx::device_rates const* const rates = rates_of(device);
  auto const costs = tx::costs_of<step, backend::target>(rates != nullptr ? *rates : tx::h100);
  std::vector<double> const seconds = tx::seconds_of<step, backend::target>(log);
  std::map<std::string, sum_of_kind> kinds;
  sum_of_kind all;
  for (std::size_t k = 0; k < costs.size(); ++k)
    for (sum_of_kind* const s : {&kinds[kind_of(costs[k].name)], &all}) {
      s->calls += costs[k].runs;
      s->measured += seconds[k];
      s->predicted += costs[k].seconds();
    }
  for (auto const& [what, s] : kinds) print_kind(what.c_str(), s, rates != nullptr);
  print_kind("all kernels", all, rates != nullptr);
  print_kind("step", {tx::total_of(costs).calls, whole, all.predicted}, rates != nullptr);
}

void print_kernels(tx::exec::kernel_log const& log) {
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, sum_of_kernels> all;
  double seconds = 0;
  for (tx::profiled_kernel const& k : tx::profile_of<step, backend::target>(log)) {
    sum_of_kernels& s = all[{k.name, k.rows, k.cols}];
    s.seconds += k.seconds;
    ++s.calls;
    s.flops += k.flops;
    s.bytes += k.bytes;
    seconds += k.seconds;
  }
  std::vector<std::pair<std::tuple<std::string, std::int64_t, std::int64_t>, sum_of_kernels>> sorted(all.begin(), all.end());
  std::sort(sorted.begin(), sorted.end(), [](auto const& a, auto const& b) { return a.second.seconds > b.second.seconds; });
  std::printf("all kernels: %.3f ms\n", seconds * 1e3);
  for (auto const& [key, s] : sorted)
    std::printf("%9.3f ms %4lld calls %7.0f GB/s %6.1f TFLOP/s  %lld x %lld %s\n", s.seconds * 1e3, static_cast<long long>(s.calls), static_cast<double>(s.bytes) / s.seconds * 1e-9,
                static_cast<double>(s.flops) / s.seconds * 1e-12, static_cast<long long>(std::get<1>(key)), static_cast<long long>(std::get<2>(key)), std::get<0>(key).c_str());
}

struct batch {
  std::vector<tx::i32> ids = std::vector<tx::i32>(TX_BATCH * TX_SEQ), labels = std::vector<tx::i32>(TX_BATCH);
  explicit batch(std::mt19937& random) {
    for (auto& id : ids) id = static_cast<tx::i32>(random() % config::vocabulary);
    for (auto& y : labels) y = static_cast<tx::i32>(random() % 2);
  }
};
using executor = tx::executor<step, backend>;
void prepare(executor& run) {
  run.settings["learning_rate"] = 1e-4f;
  run.settings.set("dropout", 0.1f);
}

// Losses, and parameters after them.
std::pair<std::vector<float>, std::vector<float>> trained(int steps) {
  std::mt19937 random(1);
  executor run(tx::seed(0));
  prepare(run);
  std::vector<float> losses;
  for (int i = 0; i < steps; ++i) {
    batch const b(random);
    losses.push_back(run(b.ids, b.labels).loss);
  }
  auto const all = run.read();
  return {losses, {all.begin(), all.end()}};
}
#if TX_E4M3
constexpr char const* type = "e4m3";
#else
constexpr char const* type = TX_BF16 ? "bf16" : "f32";
#endif

int repeats(int steps) {
  auto const first = trained(steps), second = trained(steps);
  auto const same = [](std::vector<float> const& a, std::vector<float> const& b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0; };
  bool const losses = same(first.first, second.first), parameters = same(first.second, second.second);
  std::printf("{\"kind\": \"same\", \"what\": \"%s %d x %d in %s, %d steps twice\", \"losses\": %s, \"parameters\": %s, \"loss\": [%.4f, %.4f]}\n", TX_MODEL, TX_BATCH, TX_SEQ, type, steps, losses ? "true" : "false",
              parameters ? "true" : "false", static_cast<double>(first.first.front()), static_cast<double>(first.first.back()));
  return losses && parameters ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int steps = 10;
  bool profile = false, repeat = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--profile") == 0) profile = true;
    else if (std::strcmp(argv[i], "--repeat") == 0) repeat = true;
    else if (std::strcmp(argv[i], "--steps") == 0 && i + 1 < argc) steps = std::max(1, std::atoi(argv[++i]));
  }
  if (!backend::available()) {
    std::puts("skipped: no CUDA device");
    return 77;  // neither passed nor failed
  }
  if (repeat) return repeats(steps);
  std::mt19937 random(1);
  batch const b(random);

  auto const now = [] { return std::chrono::steady_clock::now(); };
  auto const since = [&](auto start) { return std::chrono::duration<double>(now() - start).count(); };
  auto const median = [](std::vector<double>& all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  };
  auto const begin = now();
  executor run(tx::seed(0));
  prepare(run);
  auto const one = [&] { return run(b.ids, b.labels).loss; };
  float const first = one();
  double const first_step = since(begin);
  one();
  std::vector<double> seconds, busy;
  float last = 0;
  for (int i = 0; i < steps; ++i) {
    auto const start = now();
    last = one();
    seconds.push_back(since(start));
  }
  // The host starts a step while the device is at the one before; both places for what a run is sent are captured before any is timed.
  run.start(b.ids, b.labels);
  for (int i = -4; i < steps; ++i) {
    auto const start = now();
    run.start(b.ids, b.labels);
    if (i >= 0) busy.push_back(since(start));
    run.finish();
  }
  run.finish();
  cudaDeviceProp device{};
  cudaGetDeviceProperties(&device, 0);
  double const middle = median(seconds);
  std::printf("{\"kind\": \"step\", \"peer\": \"tx\", \"model\": \"%s\", \"layers\": %d, \"hidden\": %d, \"batch\": %d, \"seq\": %d, \"dtype\": \"%s\", \"device\": \"%s\", \"median_s\": %.5f, "
              "\"best_s\": %.5f, \"tokens_per_s\": %.0f, \"start_us\": %.1f, \"first_step_s\": %.2f, \"planned_bytes\": %lld, \"loss\": [%.4f, %.4f]}\n",
              TX_MODEL, TX_LAYERS, TX_HIDDEN, TX_BATCH, TX_SEQ, type, device.name, middle, seconds.front(), TX_BATCH * TX_SEQ / middle, 1e6 * median(busy), first_step,
              static_cast<long long>(executor::memory.peak), static_cast<double>(first), static_cast<double>(last));
  if (!profile) return 0;
  bench::kernel_times times;
  run.observe(times);
  one();
  run.end_observing(times);
  print_kinds(times.log(), device.name, middle);
  print_kernels(times.log());
}
