// The single-threaded product kernel against the machine's fma peak and Eigen.
//
//   gemm_kernel --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true
//
// Interleaving runs the contenders by turns, so that a change of clock or of the neighbours' load hits all of them.
#include "eigen.hpp"
#include "fma_chains.hpp"

#include <tx/backends/cpu/gemm_kernel.hpp>

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <random>

namespace {

using namespace tx;
namespace cpu = tx::backends::cpu;
using cpu::extent;

struct free_memory {
  void operator()(void* p) const { std::free(p); }
};
template <class T>
auto buffer(std::size_t n) {
  std::unique_ptr<T[], free_memory> p(static_cast<T*>(std::aligned_alloc(64, (n * sizeof(T) + 127) / 64 * 64)));
  std::minstd_rand random(1);
  for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<T>(random() % 1000) / T(500) - T(1);
  return p;
}

void rate(benchmark::State& state, double flops) {
  state.counters["GFLOP/s"] = benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

template <class T>
void fma_peak(benchmark::State& state) {
  constexpr int steps = 1000;
  for (auto _ : state) benchmark::DoNotOptimize(bench::run_fma_chains<T>(steps));
  rate(state, bench::step_flops<T> * bench::fma_chains * steps);
}

enum class layout { nn, nt, tn };  // which of A and B is stored transposed

template <class T, layout How>
void block(benchmark::State& state) {
  extent const m = state.range(0), k = state.range(1), n = state.range(2);
  auto const a = buffer<T>(static_cast<std::size_t>(m * k)), b = buffer<T>(static_cast<std::size_t>(k * n));
  auto const c = buffer<T>(static_cast<std::size_t>(m * n));
  auto const scratch = buffer<char>(cpu::gemm_scratch_bytes<T>(m, n, k));
  cpu::matrix<T> const x = How == layout::tn ? cpu::matrix<T>{a.get(), 1, m} : cpu::matrix<T>{a.get(), k, 1};
  cpu::matrix<T> const y = How == layout::nt ? cpu::matrix<T>{b.get(), 1, k} : cpu::matrix<T>{b.get(), n, 1};
  for (auto _ : state) {
    cpu::gemm_block<T>(m, n, k, x, y, c.get(), n, cpu::product::assign, scratch.get());
    benchmark::ClobberMemory();
  }
  rate(state, 2. * static_cast<double>(m * n * k));
}

template <class T>
void packed(benchmark::State& state) {
  extent const m = state.range(0), k = state.range(1), n = state.range(2);
  auto const a = buffer<T>(static_cast<std::size_t>(m * k)), b = buffer<T>(static_cast<std::size_t>(k * n));
  auto const c = buffer<T>(static_cast<std::size_t>(m * n)), weight = buffer<T>(cpu::packed_b_size<T>(k, n));
  auto const scratch = buffer<char>(cpu::gemm_scratch_bytes<T>(m, n, k));
  cpu::pack_b<T>(k, n, {b.get(), n, 1}, weight.get());
  for (auto _ : state) {
    cpu::gemm_packed<T>(m, n, k, {a.get(), k, 1}, weight.get(), c.get(), n, cpu::product::assign, scratch.get());
    benchmark::ClobberMemory();
  }
  rate(state, 2. * static_cast<double>(m * n * k));
}

template <class T>
void eigen(benchmark::State& state) {
  Eigen::setNbThreads(1);
  extent const m = state.range(0), k = state.range(1), n = state.range(2);
  using row_major = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  row_major const a = row_major::Random(m, k), b = row_major::Random(k, n);
  row_major c(m, n);
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::ClobberMemory();
  }
  rate(state, 2. * static_cast<double>(m * n * k));
}

// m, k, n: the products of a transformer layer, small ones, a batch of one, and odd sizes.
void shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"m", "k", "n"});
  b->Args({2048, 512, 512})
      ->Args({1024, 768, 3072})
      ->Args({1024, 3072, 768})
      ->Args({64, 64, 64})
      ->Args({128, 384, 384});
  b->Args({16, 512, 512})->Args({1, 512, 512})->Args({101, 203, 307});
}

BENCHMARK(fma_peak<float>);
BENCHMARK(packed<float>)->Apply(shapes);
BENCHMARK(block<float, layout::nn>)->Apply(shapes);
BENCHMARK(block<float, layout::nt>)->Apply(shapes);
BENCHMARK(block<float, layout::tn>)->Apply(shapes);
BENCHMARK(eigen<float>)->Apply(shapes);
BENCHMARK(fma_peak<double>);
BENCHMARK(packed<double>)->Args({1024, 768, 768});
BENCHMARK(eigen<double>)->Args({1024, 768, 768});

}  // namespace

BENCHMARK_MAIN();
