// A model that remembers from run to run. A recurrent network learns to continue waves from whole sequences; then another program of the
// same model listens to a wave one number a run, and keeps what it has heard in a tx::state.
#include <tx/backends/cpu.hpp>
#include <tx/tx.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

constexpr int moments = 32, batch = 32, width = 24;
using waves = tx::tensor<float, moments, batch, 1>;

struct listener {
  tx::nn::gru<1, width> layer;
  tx::nn::linear<width, 1, tx::init::normal<1, 5>> out;
  tx::state<tx::tensor<float, 1, width>> heard;  // zero at first
};

// Of all moments: the number that comes next.
inline constexpr auto loss = [](listener const& m, waves now, waves next) { return tx::mse(m.out(m.layer(now).out), next); };

// Of one: what the network remembers goes on to the next run.
inline constexpr auto listen = [](listener const& m, tx::tensor<float, 1, 1, 1> now) {
  auto const last = m.layer(now, m.heard).carry;
  m.heard.set(last);
  return tx::reshape<>(m.out(last));
};

int main() {
  tx::executor<tx::train_step<listener, loss, tx::adamw, tx::clip_gradient>, tx::cpu> train{tx::seed(0)};
  train.settings["learning_rate"] = 5e-3f;
  std::mt19937 random(0);
  std::uniform_real_distribution<float> number(0, 1);
  std::vector<float> now(moments * batch), next(moments * batch);
  float final_loss = 0;
  for (int i = 0; i < 600; ++i) {
    for (std::size_t b = 0; b < batch; ++b) {
      float const speed = 0.2f + 0.4f * number(random), phase = 6.3f * number(random);
      for (std::size_t t = 0; t < moments; ++t) {
        now[t * batch + b] = std::sin(phase + speed * static_cast<float>(t));
        next[t * batch + b] = std::sin(phase + speed * static_cast<float>(t + 1));
      }
    }
    final_loss = train(now, next).loss;
  }
  std::printf("mean squared error over sequences: %.5f\n", static_cast<double>(final_loss));

  tx::executor<tx::function<listen, listener>, tx::cpu> hear{train};  // the trained parameters, and the state beside them
  float worst_first = 0, worst_last = 0;
  for (float speed : {0.25f, 0.5f}) {
    hear.reset_state();  // another wave
    for (int t = 0; t < 24; ++t) {
      float const guess = hear(std::array{std::sin(speed * static_cast<float>(t))}).value;
      float const error = std::abs(guess - std::sin(speed * static_cast<float>(t + 1)));
      if (t == 0) worst_first = std::max(worst_first, error);
      if (t >= 12) worst_last = std::max(worst_last, error);
    }
  }
  std::printf("largest error after one number: %.3f, after twelve and more: %.3f\n", static_cast<double>(worst_first), static_cast<double>(worst_last));
  return final_loss < 0.01f && worst_last < 0.2f && worst_last < worst_first ? 0 : 1;
}
