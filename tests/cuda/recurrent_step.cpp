// A training step of recurrent layers, a loop in a loop, and of bags of words, with its kernels as device code; the optimizer's states lie in memory of the host.
#include <tx/tx.hpp>

#include "same_steps.hpp"

constexpr int layers = 2, moments = 5, batch = 3, width = 8, classes = 4, words = 6, bag = 100;

struct layer {
  tx::nn::gru<width, width> cell;
  constexpr auto operator()(auto const& x) const { return x + cell(x).out; }
};
struct model {
  tx::repeat<layers, layer> stack;
  tx::nn::lstm<width, width> last;
  tx::nn::embedding<words, width> table;
  tx::nn::linear<width, classes> out;
};
constexpr auto loss = [](model const& m, tx::tensor<float, moments, batch, width> x, tx::tensor<tx::i32, batch, bag> ids, tx::tensor<tx::i32, batch> y) {
  auto const state = m.last(m.stack(x)).carry.hidden + m.table.bag(ids) * 0.1f;
  return tx::cross_entropy(m.out(tx::dropout(state, tx::setting<"rate">(x, 0.25))), y);
};

int main() {
  std::vector<float> x(moments * batch * width);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) * 0.2f - 1;
  std::vector<tx::i32> ids;  // most are one word, and some none
  for (int i = 0; i < batch * bag; ++i) ids.push_back(i % 3 != 0 ? 2 : i % 7 - 1);
  return same_steps<tx::train_step<model, loss, tx::adamw, tx::offload>>(x, ids, std::vector<tx::i32>{0, 3, 1});
}
