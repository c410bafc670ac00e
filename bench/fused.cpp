// Fused rows forward, and forward with backward, on operands larger than the caches: bytes that must be read and written once, a second,
// beside those of a plain copy in the same process.
//
//   bench_fused --benchmark_filter=layer_norm --benchmark_repetitions=3
//
// All processors that the process may use (taskset chooses); GB/s and "of_copy" are of the bytes named with each benchmark below.
#include <tx/backends/cpu.hpp>
#include <tx/tx.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <vector>

namespace {

using namespace tx;

constexpr int rows = 8192, columns = 1024;  // 32 MB
using matrix = tensor<f32, rows, columns>;
using row = tensor<f32, columns>;
using labels = tensor<i32, rows>;
constexpr double megabytes = static_cast<double>(matrix::info.bytes()) * 1e-6;

struct input {
  param<matrix> x;
};
struct normed {
  param<matrix> x;
  param<row, init::ones> scale;
  param<row, init::zeros> shift;
};
struct biased {
  param<matrix> x;
  param<row, init::zeros> bias;
};
struct two {
  param<matrix> x, residual;
  param<row, init::ones> scale;
  param<row, init::zeros> shift;
};

constexpr auto softmax_of = [](input const& m) { return softmax(m.x); };
constexpr auto layer_norm_of = [](normed const& m) { return layer_norm(m.x, m.scale, m.shift, 1e-12); };
constexpr auto bias_gelu_of = [](biased const& m) { return gelu(m.x + m.bias); };
constexpr auto dropout_residual_norm_of = [](two const& m) { return layer_norm(dropout(m.x) + m.residual, m.scale, m.shift, 1e-12); };
constexpr auto column_sums_of = [](input const& m) { return sum<0>(m.x * m.x); };
constexpr auto cross_entropy_of = [](input const& m, labels y) { return cross_entropy(m.x, y); };

// A number whose gradient by the result is an argument, as that of what follows a layer is.
template <auto F>
constexpr auto weighed = [](auto const& m, matrix w) { return sum(F(m) * w); };
constexpr auto weighed_input = [](input const& m, matrix w) { return sum(m.x * w); };

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

// Runs Program over and over; `matrices`: how many of 32 MB must be read or written.
template <class Program>
void measure(benchmark::State& state, double matrices, auto const&... arguments) {
  executor<Program, cpu> run{seed(1)};
  run(arguments...);
  double const copy = copy_rate();
  double const start = now();
  std::int64_t count = 0;
  for (auto _ : state) {
    run(arguments...);
    ++count;
  }
  double const rate = matrices * megabytes * static_cast<double>(count) / (now() - start);
  state.counters["GB/s"] = rate * 1e-3;
  state.counters["of_copy"] = rate / copy;
}

template <auto F, class Model>
void forward(benchmark::State& state, double matrices) {
  measure<function<F, Model>>(state, matrices);
}
template <auto F, class Model>
void backward(benchmark::State& state, double matrices) {
  std::vector<f32> const w(static_cast<std::size_t>(matrix::info.count()), 0.01f);
  measure<value_and_grad<weighed<F>, Model>>(state, matrices, w);
}

std::vector<i32> some_labels() {
  std::vector<i32> y(rows);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<i32>(i * 7 % columns);
  return y;
}

void softmax_forward(benchmark::State& s) { forward<softmax_of, input>(s, 2); }  // x -> y
void softmax_backward(benchmark::State& s) { backward<softmax_of, input>(s, 3); }  // x, w -> dx
void layer_norm_forward(benchmark::State& s) { forward<layer_norm_of, normed>(s, 2); }
void layer_norm_backward(benchmark::State& s) { backward<layer_norm_of, normed>(s, 3); }
void bias_gelu_forward(benchmark::State& s) { forward<bias_gelu_of, biased>(s, 2); }
void bias_gelu_backward(benchmark::State& s) { backward<bias_gelu_of, biased>(s, 3); }
void dropout_residual_layer_norm_forward(benchmark::State& s) { forward<dropout_residual_norm_of, two>(s, 3); }    // x, r -> y; inference
void dropout_residual_layer_norm_backward(benchmark::State& s) { backward<dropout_residual_norm_of, two>(s, 5); }  // x, r, w -> dx, dr
void column_sums(benchmark::State& s) { forward<column_sums_of, input>(s, 1); }
void cross_entropy_forward(benchmark::State& s) { measure<function<cross_entropy_of, input>>(s, 1, some_labels()); }
void cross_entropy_backward(benchmark::State& s) { measure<value_and_grad<cross_entropy_of, input>>(s, 2, some_labels()); }  // x -> dx
void adamw_update(benchmark::State& s) {  // parameter, two moments, gradient -> parameter, two moments; the loss reads the parameter too
  std::vector<f32> const w(static_cast<std::size_t>(matrix::info.count()), 0.01f);
  measure<train_step<input, weighed_input, adamw>>(s, 7, w);
}

#define TX_BENCHMARK(name) BENCHMARK(name)->UseRealTime()->Unit(benchmark::kMillisecond)
TX_BENCHMARK(softmax_forward);
TX_BENCHMARK(softmax_backward);
TX_BENCHMARK(layer_norm_forward);
TX_BENCHMARK(layer_norm_backward);
TX_BENCHMARK(bias_gelu_forward);
TX_BENCHMARK(bias_gelu_backward);
TX_BENCHMARK(dropout_residual_layer_norm_forward);
TX_BENCHMARK(dropout_residual_layer_norm_backward);
TX_BENCHMARK(column_sums);
TX_BENCHMARK(cross_entropy_forward);
TX_BENCHMARK(cross_entropy_backward);
TX_BENCHMARK(adamw_update);

}  // namespace

BENCHMARK_MAIN();
