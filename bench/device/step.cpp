// device_step [--steps N] [--profile]: times a compiled training step on a device and prints one JSON line; with --profile, behind it a line for
// each kernel of one step, those of one kind together, the longest first: milliseconds, calls, GB/s and TFLOP/s by what the plan says it moves and computes.
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

#include <tx/inspect/profile.hpp>
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
#include <tuple>

// Sizes are macros, as those of bench_step. In no unnamed namespace, whose members nvcc cannot name.
struct config {
  static constexpr int layers = TX_LAYERS, hidden = TX_HIDDEN, heads = TX_HEADS, ffn = TX_FFN;
  static constexpr int vocabulary = 30522, positions = 512, types = 2;
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

template <class Executor, class Run>
void print_kernels(Executor& run, Run const& one) {
  bench::kernel_times times;
  run.observe(times);
  one();
  run.end_observing(times);
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, sum_of_kernels> all;
  double seconds = 0;
  for (tx::profiled_kernel const& k : tx::profile_of<step, backend::target>(times.log())) {
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

}  // namespace

int main(int argc, char** argv) {
  int steps = 10;
  bool profile = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--profile") == 0) profile = true;
    else if (std::strcmp(argv[i], "--steps") == 0 && i + 1 < argc) steps = std::max(1, std::atoi(argv[++i]));
  }
  if (!backend::available()) {
    std::puts("skipped: no CUDA device");
    return 77;  // neither passed nor failed
  }
  std::mt19937 random(1);
  std::vector<tx::i32> ids(TX_BATCH * TX_SEQ), labels(TX_BATCH);
  for (auto& id : ids) id = static_cast<tx::i32>(random() % config::vocabulary);
  for (auto& y : labels) y = static_cast<tx::i32>(random() % 2);

  auto const now = [] { return std::chrono::steady_clock::now(); };
  auto const since = [&](auto start) { return std::chrono::duration<double>(now() - start).count(); };
  auto const begin = now();
  tx::executor<step, backend> run(tx::seed(0));
  run.settings["learning_rate"] = 1e-4f;
  run.settings.set("dropout", 0.1f);
  auto const one = [&] { return run(ids, labels).loss; };
  float const first = one();
  double const first_step = since(begin);
  one();
  std::vector<double> seconds;
  float last = 0;
  for (int i = 0; i < steps; ++i) {
    auto const start = now();
    last = one();
    seconds.push_back(since(start));
  }
  std::sort(seconds.begin(), seconds.end());
  cudaDeviceProp device{};
  cudaGetDeviceProperties(&device, 0);
  double const median = seconds[seconds.size() / 2];
#if TX_E4M3
  char const* const type = "e4m3";
#else
  char const* const type = TX_BF16 ? "bf16" : "f32";
#endif
  std::printf("{\"peer\": \"tx\", \"layers\": %d, \"hidden\": %d, \"batch\": %d, \"seq\": %d, \"dtype\": \"%s\", \"device\": \"%s\", \"median_s\": %.5f, \"best_s\": %.5f, "
              "\"tokens_per_s\": %.0f, \"first_step_s\": %.2f, \"planned_bytes\": %lld, \"loss\": [%.4f, %.4f]}\n",
              TX_LAYERS, TX_HIDDEN, TX_BATCH, TX_SEQ, type, device.name, median, seconds.front(), TX_BATCH * TX_SEQ / median, first_step,
              static_cast<long long>(tx::executor<step, backend>::memory.peak), static_cast<double>(first), static_cast<double>(last));
  if (profile) print_kernels(run, one);
}
