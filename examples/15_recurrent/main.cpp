// A recurrent cell of one's own over time: of 24 numbers two are marked, and their sum is wanted at the end (the adding problem of
// Hochreiter and Schmidhuber, 1997). tx::nn::gru and tx::nn::lstm are such cells ready made.
#include <tx/backends/cpu.hpp>
#include <tx/io/progress.hpp>
#include <tx/tx.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

constexpr int moments = 24, batch = 64, width = 32;
using sequences = tx::tensor<float, moments, batch, 2>;  // a number, and whether it is marked
using sums = tx::tensor<float, batch>;

// A gated unit with one gate, which says how much of the state is new (Zhou et al., arXiv 1603.09420, without its second use).
struct adder {
  tx::nn::linear<2, width, tx::init::normal<1, 2>> input_gate, input;
  tx::nn::linear<width, width, tx::init::normal<1, 8>> state_gate, state;
  tx::param<tx::tensor<float, width>> first;
  tx::nn::linear<width, 1, tx::init::normal<1, 8>> out;

  constexpr auto operator()(auto const& x) const {
    auto const last = tx::scan<moments>(
        [&](auto const& h, auto const& now) {  // [batch, width], [batch, 2] -> [batch, width]
          auto const share = tx::sigmoid(input_gate(now) + state_gate(h));
          return h + share * (tx::tanh(input(now) + state(h)) - h);
        },
        tx::broadcast_to<batch, width>(first), x);
    return tx::reshape<batch>(out(last));
  }
};

inline constexpr auto loss = [](adder const& model, sequences x, sums y) { return tx::mse(model(x), y); };
using step = tx::train_step<adder, loss, tx::adamw, tx::clip_gradient>;

void draw(std::mt19937& random, std::vector<float>& x, std::vector<float>& y) {
  std::uniform_real_distribution<float> number(0, 1);
  std::ranges::generate(x, [&, at = 0]() mutable { return at++ % 2 == 0 ? number(random) : 0.0f; });
  for (std::size_t b = 0; b < batch; ++b) {
    y[b] = 0;
    for (std::size_t half = 0; half < 2; ++half) {  // one in each
      std::size_t const moment = half * moments / 2 + random() % (moments / 2);
      float* const entry = &x[2 * (moment * batch + b)];
      entry[1] = 1;
      y[b] += entry[0];
    }
  }
}

int main() {
  std::mt19937 random(0);
  std::vector<float> x(moments * batch * 2), y(batch);
  tx::executor<step, tx::cpu> run{tx::seed(0)};
  run.settings["learning_rate"] = 5e-3f;
  float average = 1.0f / 6;  // of the squared error of who answers 1 always
  tx::io::progress show(1500);
  for (int i = 1; i <= 1500; ++i) {
    draw(random, x, y);
    float const now = run(x, y).loss;
    average += 0.02f * (now - average);
    show.write(i, {{"loss", average}});
  }
  show.finish();
  std::printf("squared error %.4f; without looking at the numbers 0.1667\n", static_cast<double>(average));
  return average < 0.02f ? 0 : 1;  // it has learnt, or this example is wrong
}
