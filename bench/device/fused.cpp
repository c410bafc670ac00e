// device_fused_MB [--runs N]: fused rows of bench/fused_ops.hpp on matrices of so many MB: a JSON line for each with the median time of its kernels by the device's own clock, what they
// must read and write at least in a second, and that beside a copy within the device of a matrix of that size, timed in the same way. Caches hold nothing of it when a run begins.
#include <tx/backends/cuda.hpp>

#include "../fused_ops.hpp"
#include "kernel_times.hpp"

#include <tx/inspect/profile.hpp>
#include <tx/run/executor.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#ifndef TX_CHOSEN
#define TX_CHOSEN ~0u
#endif

namespace {

using tx::backends::cuda::gpu;
constexpr double megabytes = static_cast<double>(bench::fused_ops<TX_ROWS>::matrix::info.bytes()) / (1 << 20);

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// Memory that is cleared between runs: more than any cache has.
struct cleared_memory {
  static constexpr std::size_t bytes = TX_ROWS < 256 ? 1 << 10 : 512 << 20;
  std::byte* at = tx::cuda::allocate(bytes);
  cleared_memory() = default;
  cleared_memory(cleared_memory const&) = delete;
  cleared_memory& operator=(cleared_memory const&) = delete;
  ~cleared_memory() { tx::cuda::release(at, bytes); }
  std::span<std::byte> all() const { return {at, bytes}; }
};

// Seconds of a copy of a matrix.
double copy_seconds(cleared_memory const& cleared, int runs) {
  constexpr std::int64_t bytes = bench::fused_ops<TX_ROWS>::matrix::info.bytes();
  std::byte *const from = tx::cuda::allocate(bytes), *const to = tx::cuda::allocate(bytes);
  tx::cuda::clear(from, bytes);
  cudaEvent_t before{}, after{};
  for (cudaEvent_t* e : {&before, &after}) gpu::check(cudaEventCreate(e), "an event");
  std::vector<double> seconds;
  for (int i = -1; i < runs; ++i) {
    gpu::check(cudaMemsetAsync(cleared.at, 0, cleared_memory::bytes, tx::cuda::stream()), "clearing memory");
    gpu::check(cudaEventRecord(before, tx::cuda::stream()), "an event");
    gpu::copy(to, from, bytes);
    gpu::check(cudaEventRecord(after, tx::cuda::stream()), "an event");
    gpu::check(cudaEventSynchronize(after), "a copy");
    float milliseconds = 0;
    gpu::check(cudaEventElapsedTime(&milliseconds, before, after), "an event");
    if (i >= 0) seconds.push_back(1e-3 * static_cast<double>(milliseconds));
  }
  for (cudaEvent_t const e : {before, after}) cudaEventDestroy(e);
  tx::cuda::release(from, bytes);
  tx::cuda::release(to, bytes);
  return median(seconds);
}

struct taken {
  double seconds = 0, planned_bytes = 0;
  std::size_t kernels = 0;
};
template <class Case, class Run>
taken one_run(Case const& c, Run& run, bench::fused_arguments<TX_ROWS> const& arguments, cleared_memory const& cleared) {
  bench::kernel_times times(cleared.all());
  run.observe(times);
  arguments.call<Case::with>(run);
  run.end_observing(times);
  auto const all = tx::profile_of<typename Case::program, tx::cuda_target>(times.log());
  taken t;
  for (tx::profiled_kernel const& k : all) {
    auto const bytes = static_cast<double>(k.bytes);
    if (c.update_alone && bytes <= t.planned_bytes) continue;  // the update moves most
    bool const adds = !c.update_alone;
    t = {(adds ? t.seconds : 0) + k.seconds, (adds ? t.planned_bytes : 0) + bytes, adds ? t.kernels + 1 : 1};
  }
  return t;
}

}  // namespace

int main(int argc, char** argv) {
  int runs = 9;
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::string_view(argv[i]) == "--runs") runs = std::max(1, std::atoi(argv[i + 1]));
  if (!tx::cuda::available()) {
    std::puts("skipped: no CUDA device");
    return 77;  // neither passed nor failed
  }
  bench::fused_arguments<TX_ROWS> const arguments;
  cleared_memory const cleared;
  double const copy = 2 * megabytes / copy_seconds(cleared, runs);
  bench::fused_ops<TX_ROWS>::each<TX_CHOSEN>([&](auto const& c) {
    tx::executor<typename std::remove_cvref_t<decltype(c)>::program, tx::cuda> run{tx::seed(1)};
    one_run(c, run, arguments, cleared);
    std::vector<double> seconds;
    taken last;
    for (int i = 0; i < runs; ++i) {
      last = one_run(c, run, arguments, cleared);
      seconds.push_back(last.seconds);
    }
    double const each = median(seconds), rate = c.matrices * megabytes / each;
    std::printf("{\"kind\": \"fused\", \"peer\": \"tx\", \"op\": \"%s\", \"mb\": %.0f, \"seconds\": %.7f, \"gb_per_s\": %.1f, \"copy_gb_per_s\": %.1f, \"of_copy\": %.3f, \"kernels\": %zu, \"planned_mb\": %.1f}\n",
                c.name, megabytes, each, rate * 1.048576e-3, copy * 1.048576e-3, rate / copy, last.kernels, last.planned_bytes * 1e-6);
    std::fflush(stdout);
  });
}
