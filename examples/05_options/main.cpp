// One model, several plans: what a step keeps, recomputes and costs is a constant of the program, printed here and asserted.
#include <tx/backends/cpu.hpp>
#include <tx/inspect/outline.hpp>
#include <tx/inspect/profile.hpp>
#include <tx/io/chrome_trace.hpp>
#include <tx/io/page.hpp>
#include <tx/tx.hpp>

#include <cstdio>
#include <fstream>
#include <vector>

struct block {
  tx::nn::linear<64, 256> up;
  tx::nn::linear<256, 64> down;
  constexpr auto operator()(auto const& x) const { return x + down(tx::gelu(up(x))); }
};
struct deep_net {
  tx::repeat<8, block> layer;
  tx::nn::linear<64, 10> out;
  constexpr auto operator()(auto const& x) const { return out(layer(x)); }
};

template <int Batch>
constexpr auto loss = [](deep_net const& m, tx::tensor<float, Batch, 64> x, tx::tensor<tx::i32, Batch> y) { return tx::cross_entropy(m(x), y); };

using plain = tx::train_step<deep_net, loss<64>, tx::adamw>;
using frugal = tx::train_step<deep_net, loss<64>, tx::adamw, tx::recompute<plain::memory.activations / 2>>;     // a budget in bytes
using parts = tx::train_step<deep_net, loss<16>, tx::adamw, tx::accumulate<4>, tx::mixed<tx::bf16>>;  // four parts of a batch, products of halves

static_assert(frugal::memory.activations <= plain::memory.activations / 2 && frugal::memory.recomputed_flops > 0);
static_assert(parts::memory.activations < plain::memory.activations / 6);

template <class Step>
bool train(char const* name) {
  tx::executor<Step, tx::cpu> run{tx::seed(0)};
  std::vector<float> x(64 * 64);
  std::vector<tx::i32> y(64);
  float first = 0, last = 0;
  for (int i = 0; i < 60; ++i) {
    for (std::size_t b = 0; b < 64; ++b) {
      y[b] = static_cast<tx::i32>((b * 7 + static_cast<std::size_t>(i)) % 10);
      for (std::size_t k = 0; k < 64; ++k) x[b * 64 + k] = k % 10 == static_cast<std::size_t>(y[b]) ? 1.0f : static_cast<float>((b * k + k) % 5) / 5;
    }
    last = run(x, y).loss;
    if (i == 0) first = last;
  }
  tx::exec::memory_use const& m = Step::memory;
  std::printf("%-8s activations %5lld kB  peak %5lld kB  again %5.1f MFLOP  loss %.3f -> %.3f\n", name, static_cast<long long>(m.activations / 1000),
              static_cast<long long>(m.peak / 1000), static_cast<double>(m.recomputed_flops) / 1e6, static_cast<double>(first), static_cast<double>(last));
  return last < first / 4;
}

void profile() {
  tx::executor<frugal, tx::cpu> run{tx::seed(0)};
  std::vector<float> const x(64 * 64, 0.5f);
  std::vector<tx::i32> const y(64, 3);
  tx::exec::kernel_log log;
  run.profile(&log);
  run(x, y);
  run.profile(nullptr);
  std::vector<tx::profiled_kernel> const kernels = tx::profile_of<frugal>(log);  // name, seconds, flops, bytes …
  tx::io::write_trace("frugal.json", kernels);                                   // for chrome://tracing or Perfetto
}

int main() {
  bool const plain_learns = train<plain>("plain");
  bool const frugal_learns = train<frugal>("frugal");
  std::ofstream("frugal.txt") << tx::to_text(tx::graph_of<frugal>());  // a node a line
  tx::io::write_page("frugal.html", tx::outline_of<frugal>(), "A deep net with half of its activations");  // open it in a browser
  profile();
  return plain_learns && frugal_learns && train<parts>("parts") ? 0 : 1;
}
