// Texts of unequal length without padding: tokens lie one after the other, and the step computes those that are there.
#include <tx/backends/cpu.hpp>
#include <tx/io/progress.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/text/packed_batch.hpp>
#include <tx/tx.hpp>

#include <random>
#include <vector>

struct config {
  static constexpr int layers = 2, hidden = 64, heads = 2, ffn = 128, vocabulary = 20, positions = 24, types = 2;
};
using model = tx::nn::bert_classifier<config, 2>;
constexpr int texts = 16, longest = 24, tokens = 200;
using per_token = tx::tensor<tx::i32, tx::dyn<tokens>>;

// weights: 0 for places of the batch without a text.
inline constexpr auto loss = [](model const& m, per_token ids, per_token positions, tx::tensor<tx::i32, texts + 1> offsets,
                                tx::tensor<tx::i32, texts> labels, tx::tensor<float, texts> weights) {
  return tx::cross_entropy(m.packed<longest>(ids, positions, offsets), labels, weights);
};

int main() {
  tx::executor<tx::train_step<model, loss, tx::adamw>, tx::cpu> run{tx::seed(0)};
  run.settings.schedule = {tx::decay_shape::constant, 20, 0};
  tx::text::packed_batch<texts, longest, tokens> batch;
  std::vector<tx::i32> labels(texts);
  std::mt19937 random(0);
  float last = 0;
  double mean = 0;
  tx::io::progress show(160);
  for (int i = 0; i < 160; ++i) {
    batch.clear();
    std::vector<float> weights(texts, 0.0f);
    std::vector<tx::i32> text;
    do {  // does the word 7 come up?
      text.assign(3 + random() % 20, 1);
      for (std::size_t t = 1; t < text.size(); ++t) text[t] = static_cast<tx::i32>(8 + random() % 12);
      bool const yes = random() % 2 == 1;
      if (yes) text[1 + random() % (text.size() - 1)] = 7;
      if (!batch.add(text)) break;
      auto const row = static_cast<std::size_t>(batch.texts() - 1);
      labels[row] = yes;
      weights[row] = 1;
    } while (batch.texts() < texts);
    last = run(batch.ids, batch.positions, batch.offsets, labels, weights).loss;
    mean = i == 0 ? static_cast<double>(last) : 0.9 * mean + 0.1 * static_cast<double>(last);
    show.write(i + 1, {{"texts", batch.texts()}, {"tokens", batch.tokens()}, {"loss", mean}});
  }
  return mean < 0.2 ? 0 : 1;
}
