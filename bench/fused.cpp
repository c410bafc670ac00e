// Fused rows forward, and forward with backward, on operands larger than the caches: bytes that must be read and written once, a second,
// beside those of a plain copy in the same process.
//
//   bench_fused --benchmark_filter=layer_norm --benchmark_repetitions=3
//
// All processors that the process may use (taskset chooses); GB/s and "of_copy" are of the bytes named with each in fused_ops.hpp.
#include "fused_ops.hpp"

#include <tx/backends/cpu.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

namespace {

using namespace tx;

constexpr int rows = 8192;
using ops = bench::fused_ops<rows>;
using matrix = ops::matrix;  // 32 MB
constexpr double megabytes = static_cast<double>(matrix::info.bytes()) * 1e-6;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Megabytes a second of a copy, by the threads and shares that a kernel has; the best of five.
double copy_rate() {
  exec::bytes<cpu> const from(matrix::info.bytes()), to(matrix::info.bytes());
  __builtin_memset(from.data(), 1, static_cast<std::size_t>(matrix::info.bytes()));
  double best = 1e9;
  for (int i = 0; i < 6; ++i) {  // the first fills the pages
    double const start = now();
    backends::cpu::for_shares(backends::cpu::machine_threads(), 1 << 30, [&](int share) {
      std::int64_t const a = tx::backends::cpu::share_begin(matrix::info.bytes(), share), b = tx::backends::cpu::share_begin(matrix::info.bytes(), share + 1);
      __builtin_memcpy(to.data() + a, from.data() + a, static_cast<std::size_t>(b - a));
    });
    if (i > 0) best = std::min(best, now() - start);
  }
  return 2 * megabytes / best;
}

// Runs a program over and over.
template <class Case>
void measure(benchmark::State& state, Case const& c) {
  static bench::fused_arguments<rows> const arguments;
  executor<typename Case::program, cpu> run{seed(1)};
  arguments.call<Case::with>(run);
  double const copy = copy_rate();
  double const start = now();
  std::int64_t count = 0;
  for (auto _ : state) {
    arguments.call<Case::with>(run);
    ++count;
  }
  double const rate = c.matrices * megabytes * static_cast<double>(count) / (now() - start);
  state.counters["GB/s"] = rate * 1e-3;
  state.counters["of_copy"] = rate / copy;
}

}  // namespace

int main(int argc, char** argv) {
  ops::each([](auto const& c) { benchmark::RegisterBenchmark(c.name, [c](benchmark::State& s) { measure(s, c); })->UseRealTime()->Unit(benchmark::kMillisecond); });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
