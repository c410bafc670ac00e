// Attention of several tiles of queries and keys, with dropout and unequal texts, between layers whose products have several slices: small enough to be run
// once for each barrier.
#include "same_steps.hpp"

#include <tx/nn/attend.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/train/options.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

constexpr int tokens = 140, width = 264, head = 24;

struct model {
  tx::nn::linear<width, head> query, key, value;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 1, tokens, width> x, tx::tensor<tx::i32, 1, tokens> ids) {
  auto const of = [&](auto const& layer) { return tx::reshape<1, 1, tokens, head>(layer(x)); };
  auto const y = tx::cast<float>(tx::nn::attend(of(m.query), of(m.key), of(m.value), tx::less(0, ids), tx::nn::drop(0.1)));
  return tx::mean(tx::reshape<1, tokens * head>(y * y * 10.0));
};

int main() {
  std::vector<float> x(tokens * width);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 113) * 0.02f - 1;
  std::vector<tx::i32> ids(tokens, 1);
  for (std::size_t i = 131; i < ids.size(); ++i) ids[i] = 0;
  return same_steps_within<tx::train_step<model, loss, tx::sgd, tx::mixed<tx::bf16>>>(1e-3, x, ids);
}
