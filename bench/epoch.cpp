// bench_epoch [--texts N] [--threads N] [--dtype f32|bf16]: trains a 6 x 512 encoder on texts of 4 to 64 tokens, once through, packed:
// up to 2,048 tokens a step, however many texts that are. One JSON line.
#include <tx/backends/cpu.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/text/packed_batch.hpp>
#include <tx/train/step.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct config {
  static constexpr int layers = 6, hidden = 512, heads = 8, ffn = 512, vocabulary = 30522, positions = 512, types = 2;
};
using model = tx::nn::bert_classifier<config, 2>;
constexpr int texts = 128, longest = 64, tokens = 2048;
using per_token = tx::tensor<tx::i32, tx::dyn<tokens>>;
constexpr auto loss = [](model const& m, per_token ids, per_token positions, tx::tensor<tx::i32, texts + 1> offsets,
                         tx::tensor<tx::i32, texts> labels, tx::tensor<float, texts> weights) {
  return tx::cross_entropy(m.packed<longest>(ids, positions, offsets), labels, weights);
};

// The same texts as compare/epoch.py's: numbers of a linear congruence.
struct source {
  std::uint32_t state = 1;
  int below(int n) {
    state = state * 1103515245u + 12345u;
    return static_cast<int>((state >> 8) % static_cast<std::uint32_t>(n));
  }
  std::vector<tx::i32> text() {
    int const a = below(61), b = below(61);
    std::vector<tx::i32> ids(static_cast<std::size_t>(4 + std::min(a, b)));
    for (auto& id : ids) id = below(config::vocabulary);
    return ids;
  }
};

struct options {
  int texts = 2048, threads = 2;
  std::string dtype = "f32";
};

template <class... Precision>
void run(options const& o) {
  using step = tx::train_step<model, loss, tx::adamw, Precision...>;
  tx::executor<step, tx::cpu> train{tx::seed(0), {.threads = o.threads}};
  train.settings["learning_rate"] = 1e-4f;
  tx::text::packed_batch<texts, longest, tokens> batch;
  std::vector<tx::i32> labels(texts);
  std::vector<float> weights(texts);
  int steps = 0;
  std::int64_t seen = 0;
  double last = 0;
  auto const one = [&] {
    for (int i = 0; i < texts; ++i) weights[static_cast<std::size_t>(i)] = i < batch.texts() ? 1.0f : 0.0f;
    last = static_cast<double>(float(train(batch.ids, batch.positions, batch.offsets, labels, weights).loss));
    ++steps;
    batch.clear();
  };
  auto const epoch = [&](int count) {
    source from;
    for (int i = 0; i < count; ++i) {
      auto const text = from.text();
      seen += static_cast<std::int64_t>(text.size());
      if (!batch.add(text)) {
        one();
        batch.add(text);
      }
      labels[static_cast<std::size_t>(batch.texts() - 1)] = i % 2;
    }
    one();
  };
  epoch(200);  // warms up
  steps = 0;
  seen = 0;
  auto const start = std::chrono::steady_clock::now();
  epoch(o.texts);
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  std::printf("{\"peer\": \"tx\", \"dtype\": \"%s\", \"threads\": %d, \"texts\": %d, \"tokens\": %lld, \"steps\": %d, \"seconds\": %.2f, \"texts_per_s\": %.1f, "
              "\"tokens_per_s\": %.1f, \"peak_bytes\": %lld, \"loss\": %.4f}\n",
              o.dtype.c_str(), o.threads, o.texts, static_cast<long long>(seen), steps, seconds, o.texts / seconds, static_cast<double>(seen) / seconds,
              static_cast<long long>(use.ru_maxrss) * 1024, last);
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const key = argv[i];
    if (key == "--texts") o.texts = std::max(1, std::atoi(argv[i + 1]));
    else if (key == "--threads") o.threads = std::atoi(argv[i + 1]);
    else if (key == "--dtype") o.dtype = argv[i + 1];
    else {
      std::fprintf(stderr, "bench_epoch: unknown option %s\n", argv[i]);
      return 2;
    }
  }
  if (o.dtype == "bf16") run<tx::mixed<tx::bf16>>(o);
  else run<>(o);
}
