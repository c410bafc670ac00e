// One model, several plans: what a step keeps, recomputes and costs is a constant of the program, printed here and asserted.
#include <tx/backends/cpu.hpp>
#include <tx/nn/bert.hpp>
#include <tx/tx.hpp>

#include <cstdio>
#include <vector>

struct config {
  static constexpr int layers = 4, hidden = 64, heads = 4, ffn = 256, vocabulary = 100, positions = 32, types = 2;
};
using model = tx::nn::bert_classifier<config, 2>;

template <int Batch>
constexpr auto loss = [](model const& m, tx::tensor<tx::i32, Batch, 32> ids, tx::tensor<tx::i32, Batch> labels) {
  return tx::cross_entropy(m(ids), labels);
};

using plain = tx::train_step<model, loss<16>, tx::adamw>;
using frugal = tx::train_step<model, loss<16>, tx::adamw, tx::recompute<plain::memory.activations * 2 / 3>>;         // a budget in bytes
using parts = tx::train_step<model, loss<4>, tx::adamw, tx::accumulate<4>, tx::mixed<tx::bf16>>;  // four parts of a batch, products of halves

static_assert(frugal::memory.activations <= plain::memory.activations * 2 / 3 && frugal::memory.recomputed_flops > 0);
static_assert(parts::memory.activations < plain::memory.activations / 6);

template <class Step>
bool train(char const* name) {
  tx::executor<Step, tx::cpu> run{tx::seed(0)};
  run.settings.dropout = 0;
  std::vector<tx::i32> ids(16 * 32), labels(16);
  float first = 0, last = 0;
  for (int i = 0; i < 30; ++i) {
    for (std::size_t b = 0; b < 16; ++b) {  // is the first word in the upper half of the vocabulary?
      for (std::size_t t = 0; t < 32; ++t) ids[b * 32 + t] = static_cast<tx::i32>((b * 31 + t * 17 + static_cast<std::size_t>(i) * 7) % 100);
      labels[b] = ids[b * 32] >= 50;
    }
    last = run(ids, labels).loss;
    if (i == 0) first = last;
  }
  tx::exec::memory_use const& m = Step::memory;
  std::printf("%-8s activations %5lld kB  peak %5lld kB  again %6.1f MFLOP  loss %.3f -> %.3f\n", name, static_cast<long long>(m.activations / 1000),
              static_cast<long long>(m.peak / 1000), static_cast<double>(m.recomputed_flops) / 1e6, static_cast<double>(first), static_cast<double>(last));
  return last < first;
}

int main() { return train<plain>("plain") & train<frugal>("frugal") & train<parts>("parts") ? 0 : 1; }
