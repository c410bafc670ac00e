// A BERT-base training step of LAYERS layers by repeat; prints its kernels when run.
#include <tx/backends/cpu.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <cstdio>
#include <vector>

namespace {

struct config {
  static constexpr int layers = LAYERS, hidden = 768, heads = 12, ffn = 3072, vocabulary = 30522, positions = 512, types = 2;
};
constexpr auto loss = [](auto const& m, tx::tensor<tx::i32, 8, 128> ids, tx::tensor<tx::i32, 8> y) { return tx::cross_entropy(m(ids), y); };
using step = tx::train_step<tx::nn::bert_classifier<config, 2>, loss, tx::adamw>;

}  // namespace

int main(int argc, char**) {
  std::printf("%d kernels\n", step::program<>::kernels.size());
  if (argc < 2) return 0;
  tx::executor<step, tx::cpu> run{tx::seed(0)};
  std::vector<tx::i32> const ids(8 * 128, 1);
  std::vector<tx::i32> const labels(8, 1);
  std::printf("loss %g\n", static_cast<double>(run(ids, labels).loss));
}
