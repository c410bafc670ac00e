// bench_products [--dtype f32|bf16] [--threads N] [--rounds N]: the products of BERT training steps, run as programs run them, on all
// threads: the activations are packed within the time. In percent of the peak measured in the same turn, of fmas or of what multiplies
// pairs of bf16, or tiles of them; for f32 Eigen's product beside them.
#include "eigen.hpp"
#include "fma_chains.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

namespace {

using namespace tx;

// x [tokens, in], weight [out, in] as files have it, gradient [tokens, out]
template <class T, int Tokens, int In, int Out>
constexpr auto forward = [](tensor<T, Tokens, In> x, tensor<T, Out, In> w) { return matmul(x, transpose(w)); };
template <class T, int Tokens, int In, int Out>
constexpr auto to_input = [](tensor<T, Tokens, Out> dy, tensor<T, Out, In> w) { return matmul(dy, w); };
template <class T, int Tokens, int In, int Out>
constexpr auto to_weight = [](tensor<T, Tokens, Out> dy, tensor<T, Tokens, In> x) { return matmul(transpose(dy), x); };

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double seconds_of(auto const& work) {  // the best of three
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    double const start = now();
    work();
    best = std::min(best, now() - start);
  }
  return best;
}

// GFLOP/s on every thread, if nothing were to be loaded or stored.
template <class T>
double peak(int threads) {
  constexpr int steps = 100000;
#if TX_HAS_AMX
  if constexpr (backends::cpu::has_matrix_unit<T>)
    if (backends::cpu::detail::matrix_unit_permitted()) {
      double const tiles = seconds_of([&] { backends::cpu::for_shares(threads, 1 << 30, [&](int) { bench::run_tile_chains(steps / 10); }); });
      return 1e-9 * bench::tile_step_flops * (steps / 10) * tx::backends::cpu::shares / tiles;
    }
#endif
  f32 sums[tx::backends::cpu::shares] = {};
  double const seconds = seconds_of([&] {
    backends::cpu::for_shares(threads, 1 << 30, [&](int share) { sums[share] = bench::run_fma_chains<T>(steps); });
    asm volatile("" : : "m"(sums));
  });
  return 1e-9 * bench::step_flops<T> * bench::fma_chains * steps * tx::backends::cpu::shares / seconds;
}

struct settings {
  int threads = backends::cpu::machine_threads();
  int rounds = 5;
  std::string_view dtype{};  // f32 or bf16; both if empty
};

template <class T, auto F, int M, int K, int N>
void measure(settings const& s, char const* what, bool transposed_left, bool transposed_right) {
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  executor<function<F>, cpu> run(run_options{.threads = s.threads});
  exec::bytes<cpu> const room((static_cast<std::int64_t>(M) * K + static_cast<std::int64_t>(K) * N + static_cast<std::int64_t>(M) * N) * static_cast<std::int64_t>(sizeof(T)));  // as programs have it
  T* at = reinterpret_cast<T*>(room.data());
  auto const next = [&](int rows, int cols) {
    Eigen::Map<matrix> m(at, rows, cols);
    at += m.size();
    return m;
  };
  auto a = transposed_left ? next(K, M) : next(M, K);
  auto b = transposed_right ? next(N, K) : next(K, N);
  auto c = next(M, N);
  std::minstd_rand random(1);
  auto const draw = [&] {
    float const x = static_cast<float>(random() % 2001) / 1000 - 1;
    if constexpr (is_half(dtype_v<T>)) return T::from(x);
    else return x;
  };
  for (T& x : std::span(a.data(), static_cast<std::size_t>(a.size() + b.size()))) x = draw();
  auto const span_of = [](auto const& m) { return std::span<T const>(m.data(), static_cast<std::size_t>(m.size())); };
  double const flops = 2e-9 * M * K * N;
  int const repeat = std::max(1, static_cast<int>(4 / flops));
  std::vector<double> mine, eigen;
  for (int round = 0; round < s.rounds; ++round) {
    double const top = peak<T>(s.threads);
    mine.push_back(flops / seconds_of([&] { for (int i = 0; i < repeat; ++i) run(span_of(a), span_of(b)); }) * repeat / top);
    if constexpr (std::is_same_v<T, f32>)
      eigen.push_back(flops / seconds_of([&] {
        for (int i = 0; i < repeat; ++i)
          backends::cpu::for_claims(s.threads, 1 << 30, (tx::backends::cpu::shares + s.threads - 1) / s.threads, [&](backends::cpu::claims& taken) {
            do {  // the rows of a thread at once
              Eigen::Index const row = tx::backends::cpu::share_begin(M, taken.first), rows = tx::backends::cpu::share_begin(M, taken.end) - row;
              auto part = c.middleRows(row, rows);
              if (transposed_left) part.noalias() = a.middleCols(row, rows).transpose() * b;
              else if (transposed_right) part.noalias() = a.middleRows(row, rows) * b.transpose();
              else part.noalias() = a.middleRows(row, rows) * b;
            } while (taken.next());
          });
      }) * repeat / top);
  }
  std::sort(mine.begin(), mine.end());
  std::sort(eigen.begin(), eigen.end());
  std::size_t const middle = mine.size() / 2;
  std::printf("  %-10s %5d x %5d x %5d %8.1f %8.1f %8.1f", what, M, K, N, 100 * mine[middle], 100 * mine.front(), 100 * mine.back());
  if (!eigen.empty()) std::printf(" %8.1f", 100 * eigen[middle]);
  std::puts("");
  std::fflush(stdout);
}

template <class T, int Tokens, int In, int Out>
void layer(settings const& s) {
  measure<T, forward<T, Tokens, In, Out>, Tokens, In, Out>(s, "forward", false, true);
  measure<T, to_input<T, Tokens, In, Out>, Tokens, Out, In>(s, "to input", false, false);
  measure<T, to_weight<T, Tokens, In, Out>, Out, Tokens, In>(s, "to weight", true, false);
}

template <class T>
void table(settings const& s) {
  std::printf("%s: %d threads, peak %.0f GFLOP/s; percent of it\n", name_of(dtype_v<T>), s.threads, peak<T>(s.threads));
  std::printf("  %-10s %21s %8s %8s %8s %8s\n", "", "rows, depth, columns", "median", "lowest", "highest", is_half(dtype_v<T>) ? "" : "Eigen");
  std::puts("twin");
  layer<T, 2048, 512, 512>(s);
  std::puts("minilm");
  layer<T, 2048, 384, 384>(s);
  layer<T, 2048, 384, 1536>(s);
  layer<T, 2048, 1536, 384>(s);
  std::puts("base");
  layer<T, 1024, 768, 768>(s);
  layer<T, 1024, 768, 3072>(s);
  layer<T, 1024, 3072, 768>(s);
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--threads") s.threads = std::atoi(argv[i + 1]);
    if (std::string_view(argv[i]) == "--dtype") s.dtype = argv[i + 1];
    if (std::string_view(argv[i]) == "--rounds") s.rounds = std::max(1, std::atoi(argv[i + 1]));
  }
  if (s.dtype != "bf16") table<f32>(s);
  if (s.dtype != "f32") table<bf16>(s);
}
