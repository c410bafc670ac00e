// A training step of a recurrent layer, tx::nn::CELL, over STEPS moments.
#include <tx/backends/cpu.hpp>
#include <tx/nn/gru.hpp>
#include <tx/nn/linear.hpp>
#include <tx/nn/lstm.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <cstdio>
#include <vector>

namespace {

constexpr int batch = 8, in = 32, hidden = 64, classes = 10;
struct model {
  tx::nn::CELL<in, hidden> cell;
  tx::nn::linear<hidden, classes> out;
};
constexpr auto loss = [](model const& m, tx::tensor<float, STEPS, batch, in> x, tx::tensor<tx::i32, STEPS, batch> y) {
  return tx::cross_entropy(m.out(m.cell(x).out), y);
};
using step = tx::train_step<model, loss, tx::adamw>;

}  // namespace

int main() {
  tx::executor<step, tx::cpu> run{tx::seed(0)};
  std::vector<float> const x(STEPS * batch * in, 0.5f);
  std::vector<tx::i32> const y(STEPS * batch, 1);
  std::printf("%d kernels, loss %g\n", step::program<>::kernels.size(), static_cast<double>(run(x, y).loss));
}
