// bench_rows [--threads N] [--rounds N]: fused row kernels on operands larger than the caches. Bytes that each reads and writes once, a
// second, against those of a plain copy in the same turn.
#include <tx/backends/cpu.hpp>
#include <tx/exec/executor.hpp>
#include <tx/exec/function.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/layer_norm.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using namespace tx;

constexpr int rows = 16384, columns = 1024;  // 64 MB
using matrix = tensor<f32, rows, columns>;
using row = tensor<f32, columns>;

constexpr auto add_gelu = [](matrix x, matrix y) { return gelu(x + y); };
constexpr auto add_tanh = [](matrix x, matrix y) { return tanh(x + y); };
constexpr auto residual_norm = [](matrix x, matrix y, row scale, row shift) { return layer_norm(x + y, scale, shift, 1e-12); };
constexpr auto probabilities = [](matrix x, matrix y) { return softmax(x * y); };
constexpr auto column_sums = [](matrix x, matrix y) { return sum<0>(x * y); };

struct settings {
  int threads = backends::cpu::machine_threads();
  int rounds = 5;
};

double seconds_of(auto const& work) {
  auto const start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

struct buffers {
  exec::bytes<cpu> room{3 * matrix::info.bytes()};  // as programs have it
  std::span<f32> part(int k) const { return {reinterpret_cast<f32*>(room.data()) + k * matrix::info.count(), static_cast<std::size_t>(matrix::info.count())}; }
};

// Each thread copies the shares that a kernel's thread has.
double copy_rate(settings const& s, buffers const& b) {
  double const seconds = seconds_of([&] {
    backends::cpu::for_share_ranges(s.threads, 1 << 30, [&](int first, int end) {
      std::int64_t const from = exec::share_begin(matrix::info.count(), first), to = exec::share_begin(matrix::info.count(), end);
      __builtin_memcpy(b.part(2).data() + from, b.part(0).data() + from, static_cast<std::size_t>(to - from) * sizeof(f32));
    });
  });
  return 2e-9 * static_cast<double>(matrix::info.bytes()) / seconds;
}

template <auto F>
void measure(settings const& s, buffers const& b, char const* name, auto const&... more) {
  executor<function<F>, cpu> run(run_options{.threads = s.threads});
  double const bytes = 2. * matrix::info.bytes() + static_cast<double>(decltype(std::declval<typename function<F>::result>().value)::info.bytes());
  std::vector<double> mine, copies, of;
  run(b.part(0), b.part(1), more...);
  for (int i = 0; i < s.rounds; ++i) {
    copies.push_back(copy_rate(s, b));
    mine.push_back(1e-9 * bytes / seconds_of([&] { run(b.part(0), b.part(1), more...); }));
    of.push_back(mine.back() / copies.back());
  }
  std::printf("  %-28s %8.1f %8.1f %7.0f%%\n", name, median(mine), median(copies), 100 * median(of));
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--threads") s.threads = std::atoi(argv[i + 1]);
    if (std::string_view(argv[i]) == "--rounds") s.rounds = std::max(1, std::atoi(argv[i + 1]));
  }
  buffers const b;
  for (int k = 0; k < 3; ++k)
    for (std::size_t i = 0; i < b.part(k).size(); ++i) b.part(k)[i] = static_cast<f32>(i % 251) / 100 - 1;
  std::printf("%d x %d, f32, %d threads; GB/s\n  %-28s %8s %8s %8s\n", rows, columns, s.threads, "", "kernel", "copy", "of it");
  measure<add_gelu>(s, b, "gelu(x + y)");
  measure<add_tanh>(s, b, "tanh(x + y)");
  std::vector<f32> const ones(columns, 1.0f);
  measure<residual_norm>(s, b, "layer_norm(x + y)", ones, ones);
  measure<probabilities>(s, b, "softmax(x * y)");
  measure<column_sums>(s, b, "sum over rows of x * y");
}
