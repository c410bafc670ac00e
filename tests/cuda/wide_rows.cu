// Rows that a whole block works on: reductions of a row over several warps, forward and backward.
#include <tx/tx.hpp>

#include "same_steps.hpp"

constexpr int batch = 3, width = 600;

struct model {
  tx::nn::layer_norm<width> norm;
  tx::nn::linear<width, 4> out;
};
constexpr auto loss = [](model const& m, tx::tensor<float, batch, width> x, tx::tensor<tx::i32, batch> y) {
  auto const shares = tx::softmax(m.norm(x));
  return tx::cross_entropy(m.out(m.norm(x) + shares), y);
};

int main() {
  std::vector<float> x(batch * width);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 113) * 0.02f - 1;
  return same_steps<tx::train_step<model, loss, tx::adamw>>(x, std::vector<tx::i32>{0, 3, 1});
}
