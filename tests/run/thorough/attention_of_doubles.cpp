// Attention in f64 whose scores do not stay in the cache is one kernel too, as exact as doubles are.
#include "../in_products.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/attend.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

constexpr int places = 370, head = 4;  // scores of a head are more than a megabyte
using text = tx::tensor<double, 1, 1, places, head>;
using weight = tx::param<tx::tensor<double, head, head>>;

struct model {
  weight query, key, value;
  tx::param<tx::tensor<double, 1, 1, 1, places>> bias;
};
struct told {
  tx::tensor<double> loss;
  text mixed;
};
constexpr auto loss = [](model const& m, text x) {
  auto const mixed = tx::nn::attend(tx::matmul(x, m.query), tx::matmul(x, m.key), tx::matmul(x, m.value), tx::nn::causal, m.bias);
  return told{tx::mean(mixed * mixed), mixed};
};
using step = tx::train_step<model, loss, tx::sgd>;

template <class Backend>
std::vector<std::vector<double>> trained(int threads) {
  tx::executor<step, Backend> run{tx::seed(6), {.threads = threads}};
  run.settings["dropout"] = 0.2f;
  std::vector<double> x(places * head);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7919 % 200) / 50 - 2;
  std::vector<double> losses, mixed;
  for (int s = 0; s < 3; ++s) {
    auto const r = run(x);
    losses.push_back(r.loss);
    mixed.assign(r.mixed.begin(), r.mixed.end());
  }
  return {losses, mixed};
}

}  // namespace

TEST_CASE("attention of doubles whose scores leave the cache is one kernel") {
  CHECK(attentions<step, tx::cpu_target>() == 2);
  auto const one = trained<tx::cpu>(1), two = trained<tx::cpu>(2), plain = trained<tx::reference>(1);
  check_agreement(one, two, {plain}, 1e-13);
  CHECK(one[0].front() != one[0].back());
}
