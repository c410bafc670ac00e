// The smallest program: a two-layer classifier on generated pictures. The step is built while this file compiles.
#include <tx/backends/cpu.hpp>
#include <tx/io/progress.hpp>
#include <tx/tx.hpp>

#include <cstdio>
#include <random>
#include <vector>

struct classifier {
  tx::nn::linear<784, 256> hidden;
  tx::nn::linear<256, 10> out;
  constexpr auto operator()(auto x) const { return out(tx::gelu(hidden(x))); }
};

inline constexpr auto loss = [](auto const& model, tx::tensor<tx::f32, 32, 784> x, tx::tensor<tx::i32, 32> y) {
  return tx::cross_entropy(model(x), y);
};

using step = tx::train_step<classifier, loss, tx::adamw>;
static_assert(step::memory.peak < tx::MiB(8));

int main() {
  // Ten pictures of noise, seen through more noise: which one is it?
  std::mt19937 random(0);
  std::normal_distribution<float> noise;
  std::vector<float> pictures(10 * 784);
  for (float& p : pictures) p = noise(random);

  tx::executor<step, tx::cpu> run{tx::seed(0)};
  std::vector<float> x(32 * 784);
  std::vector<tx::i32> y(32);
  float first = 0;
  float last = 0;
  tx::io::progress show(100);
  for (int i = 0; i < 100; ++i) {
    for (std::size_t b = 0; b < 32; ++b) {
      y[b] = static_cast<tx::i32>(random() % 10);
      for (std::size_t k = 0; k < 784; ++k) x[b * 784 + k] = pictures[static_cast<std::size_t>(y[b]) * 784 + k] + 3 * noise(random);
    }
    last = run(x, y).loss;
    if (i == 0) first = last;
    show.write(i + 1, {{"loss", last}});
  }
  show.finish();
  std::printf("%d kernels, %d calls a step, %.1f MB at most\n", step::program<>::kernels.size(), step::program<>::calls.size(),
              static_cast<double>(step::memory.peak) / 1e6);
  return last < first / 10 ? 0 : 1;  // it learns, or this example is wrong
}
