// Attention whose scores do not stay in the cache runs as one kernel on the CPU: values and training are those of attention written out.
#include "in_products.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/attend.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <memory>

namespace {

constexpr int places = 530, head = 4;  // scores of a head are more than a megabyte
using text = tx::tensor<float, 1, 1, places, head>;

struct model {
  tx::nn::linear<head, head> query, key, value;
  tx::param<tx::tensor<float, 1, 1, 1, places>> bias;
};
struct told {
  tx::tensor<float> loss;
  text mixed;
};
constexpr auto loss = [](model const& m, text x, tx::tensor<bool, 1, places> mask) {
  auto const mixed = tx::nn::attend(m.query(x), m.key(x), m.value(x), tx::nn::causal, tx::nn::local<300>, mask, m.bias);
  return told{tx::mean(mixed * mixed), mixed};
};
using step = tx::train_step<model, loss, tx::adamw>;

template <class Backend>
std::vector<std::vector<double>> trained(int threads) {
  tx::executor<step, Backend> run{tx::seed(6), {.threads = threads}};
  run.settings["dropout"] = 0.2f;
  std::vector<float> x(places * head);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 200) / 50 - 2;
  auto const mask = std::make_unique<bool[]>(places);
  for (std::size_t i = 0; i < places; ++i) mask[i] = i % 11 != 0;
  std::vector<double> losses, mixed;
  for (int s = 0; s < 3; ++s) {
    auto const r = run(x, std::span<bool const>(mask.get(), places));
    losses.push_back(static_cast<double>(static_cast<float>(r.loss)));
    mixed.assign(r.mixed.begin(), r.mixed.end());
  }
  auto const all = run.read();
  return {losses, mixed, {all.begin(), all.end()}};
}

}  // namespace

TEST_CASE("attention whose scores leave the cache is one kernel, and gives what products give") {
  CHECK(attentions<step, tx::cpu_target>() == 2);
  CHECK(attentions<step, writes_out>() == 0);
  CHECK(step::memory_on<writes_out>.arena > step::memory.arena + (std::int64_t{1} << 20));
  auto const one = trained<tx::cpu>(1), two = trained<tx::cpu>(2), products = trained<in_products>(2), plain = trained<tx::reference>(1);
  check_agreement(one, two, {products, plain}, 2e-5);
  CHECK(one[0].front() > one[0].back());
}
