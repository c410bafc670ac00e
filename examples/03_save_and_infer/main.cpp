// Training, then a file, then another program that only infers: it has a batch size of its own and no optimizer state.
#include <tx/backends/cpu.hpp>
#include <tx/io/metric_sinks.hpp>
#include <tx/io/metrics.hpp>
#include <tx/io/parameters.hpp>
#include <tx/io/progress.hpp>
#include <tx/io/tensorboard.hpp>
#include <tx/tx.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <vector>

// Which of two interleaved spirals is a point on?
struct spirals {
  tx::nn::linear<2, 64, tx::init::normal<1, 1>> first;
  tx::nn::linear<64, 64, tx::init::normal<1, 8>> second;
  tx::nn::linear<64, 2> out;
  constexpr auto operator()(auto const& x) const { return out(tx::tanh(second(tx::tanh(first(x))))); }
};

inline constexpr auto loss = [](spirals const& m, tx::tensor<float, 128, 2> x, tx::tensor<tx::i32, 128> y) { return tx::cross_entropy(m(x), y); };
// Up to 32 points: a bounded extent is planned for its maximum and run with as many rows as there are.
inline constexpr auto predict = [](spirals const& m, tx::tensor<float, tx::dyn<32>, 2> x) { return tx::softmax(m(x)); };

using step = tx::train_step<spirals, loss, tx::adamw>;
using inference = tx::function<predict, spirals>;
static_assert(inference::memory.optimizer == 0);

struct point {
  float x, y;
};
point on_spiral(int which, float t) {
  float const angle = 6 * t + 3.14159265f * static_cast<float>(which);
  return {t * std::cos(angle), t * std::sin(angle)};
}

int main() {
  std::filesystem::path const folder = "spirals";  // where the program runs
  auto const file = folder / "model.safetensors";
  {
    tx::io::metric_sinks metrics;
    metrics.emplace<tx::io::event_file>(folder / "events");           // tensorboard --logdir spirals/events
    metrics.emplace<tx::io::metrics_log>(folder / "metrics.jsonl");   // {"step":1,"loss":0.69}
    metrics.emplace<tx::io::progress>(600);                           // one live line
    tx::executor<step, tx::cpu> run{tx::seed(0)};
    run.settings["learning_rate"] = 3e-3f;
    run.settings.schedule = {tx::decay_shape::cosine, 20, 600};
    std::vector<float> x(256);
    std::vector<tx::i32> y(128);
    for (int i = 0; i < 600; ++i) {
      for (std::size_t b = 0; b < 128; ++b) {
        y[b] = static_cast<tx::i32>(b % 2);
        point const p = on_spiral(y[b], 0.1f + 0.9f * static_cast<float>((b * 37 + static_cast<std::size_t>(i) * 11) % 128) / 128);
        x[2 * b] = p.x;
        x[2 * b + 1] = p.y;
      }
      float const now = run(x, y).loss;
      metrics.write(i + 1, {{"loss", now}});
    }
    for (auto const& t : run.tensors()) std::printf("  %-14s %zu numbers\n", t.name.c_str(), t.data.size());
    tx::io::save_parameters(file, run.tensors());
  }

  tx::executor<inference, tx::cpu> infer{tx::seed(1)};  // its own random weights, until
  tx::io::load_parameters(file, infer.tensors());       // every name, type and shape is checked
  std::filesystem::remove_all(folder);
  int right = 0;
  std::vector<float> points;
  for (int i = 0; i < 20; ++i) {
    point const p = on_spiral(i % 2, 0.15f + 0.04f * static_cast<float>(i));
    points.insert(points.end(), {p.x, p.y});
  }
  auto const shares = infer(points).value;  // [20, 2]: a view, valid until the next run
  for (std::size_t i = 0; i < 20; ++i) right += shares[2 * i + i % 2] > 0.5f;
  std::printf("%d of 20 points right\n", right);
  return right >= 18 ? 0 : 1;
}
