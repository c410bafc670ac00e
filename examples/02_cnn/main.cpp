// A convolutional network on generated shapes: squares, discs and crosses anywhere in a noisy picture. Pictures are
// [batch, channel, height, width]; the operations that change this shape say what they make of it.
#include <tx/backends/cpu.hpp>
#include <tx/io/progress.hpp>
#include <tx/tx.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

constexpr int batch = 32;
constexpr int side = 16;
using pictures = tx::tensor<tx::f32, batch, 1, side, side>;

constexpr tx::conv2d_options same_size{.padding = 1};

struct cnn {
  tx::nn::conv2d<1, 8, 3, same_size> first;
  tx::nn::conv2d<8, 16, 3, same_size> second;
  tx::nn::linear<16 * 4 * 4, 3> out;

  constexpr auto operator()(auto const& x) const {
    auto const edges = tx::max_pool2d<2>(tx::maximum(first(x), 0));       // [batch, 8, 8, 8]
    auto const parts = tx::max_pool2d<2>(tx::maximum(second(edges), 0));  // [batch, 16, 4, 4]
    return out(tx::reshape<batch, 16 * 4 * 4>(parts));
  }
};

// What a step hands back: the loss first, then whatever else is to be known of the batch.
struct told {
  tx::tensor<float> loss, accuracy;
};
inline constexpr auto loss = [](cnn const& model, pictures x, tx::tensor<tx::i32, batch> y) {
  auto const logits = model(x);
  auto const likely = tx::reshape<batch>(tx::argmax<-1>(logits));  // [batch, 1] -> [batch]
  return told{tx::cross_entropy(logits, y), tx::mean(tx::cast<float>(tx::equal(likely, y)))};
};
inline constexpr auto predict = [](cnn const& model, pictures x) { return tx::argmax<-1>(model(x)); };

// A batch of shapes of radius 3, and which they are.
void draw(std::mt19937& random, std::vector<float>& x, std::vector<tx::i32>& y) {
  std::normal_distribution<float> noise(0, 0.3f);
  for (std::size_t b = 0; b < batch; ++b) {
    y[b] = static_cast<tx::i32>(random() % 3);
    int const top = 3 + static_cast<int>(random() % (side - 6));
    int const left = 3 + static_cast<int>(random() % (side - 6));
    for (int i = 0; i < side * side; ++i) {
      int const dy = std::abs(i / side - top);
      int const dx = std::abs(i % side - left);
      bool const inside =
          std::max(dx, dy) <= 3 && (y[b] == 0 || (y[b] == 1 ? dx * dx + dy * dy <= 10 : std::min(dx, dy) == 0));
      x[b * side * side + static_cast<std::size_t>(i)] = (inside ? 1.0f : 0.0f) + noise(random);
    }
  }
}

int main() {
  std::mt19937 random(0);
  std::vector<float> x(batch * side * side);
  std::vector<tx::i32> y(batch);

  using step = tx::train_step<cnn, loss, tx::adamw>;
  tx::executor<step, tx::cpu> run{tx::seed(0)};
  run.settings["learning_rate"] = 3e-3f;
  float accuracy = 0;
  tx::io::progress show(300);
  for (int i = 1; i <= 300; ++i) {
    draw(random, x, y);
    auto const now = run(x, y);
    accuracy = now.accuracy;
    show.write(i, {{"loss", static_cast<float>(now.loss)}, {"accuracy", accuracy}});
  }
  show.finish();

  tx::executor<tx::function<predict, cnn>, tx::cpu> infer{run};
  int right = 0;
  for (int round = 0; round < 10; ++round) {
    draw(random, x, y);
    auto const told = infer(x).value;
    for (std::size_t b = 0; b < batch; ++b) right += told[b] == y[b];
  }
  std::printf("%d of %d new shapes recognised\n", right, 10 * batch);
  return right > 9 * batch && accuracy > 0.9f ? 0 : 1;  // it has learnt, or this example is wrong
}
