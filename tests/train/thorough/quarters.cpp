// mixed<e4m3>: products by parameters of E4M3 within a step of a transformer, beside the same step of bf16.
#include "../../furthest.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <cmath>

namespace {

struct small {
  static constexpr int layers = 3, hidden = 32, heads = 2, ffn = 64, vocabulary = 50, positions = 9, types = 2;
};
using ids = tx::tensor<tx::i32, 4, 9>;
constexpr auto loss = [](auto const& m, ids words, ids mask, tx::tensor<tx::i32, 4> label) { return tx::cross_entropy(m(words, mask), label); };
template <class... Options>
using step = tx::train_step<tx::nn::bert_classifier<small, 3>, loss, tx::adamw, Options...>;
using halves = step<tx::mixed<tx::bf16>>;
using quarters = step<tx::mixed<tx::e4m3>>;

static_assert(quarters::memory.parameters == halves::memory.parameters && quarters::memory.optimizer == halves::memory.optimizer);

// The losses of a few steps, which so depend on gradients too.
template <class Step, class Backend>
std::vector<float> losses(float dropout, int threads = 1, int steps = 12) {
  tx::executor<Step, Backend> run{tx::seed(5), tx::run_options{.threads = threads}};
  run.settings["learning_rate"] = 1e-2f;
  run.settings.set("dropout", dropout);
  std::vector<tx::i32> words(36), mask(36, 1);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<tx::i32>(i * 7 % 50);
  mask[35] = mask[34] = mask[8] = 0;
  std::vector<tx::i32> const label{0, 2, 1, 2};
  std::vector<float> all;
  for (int i = 0; i < steps; ++i) all.push_back(run(words, mask, label).loss);
  return all;
}

double furthest(std::vector<float> const& a, std::vector<float> const& b) {
  double far = a.size() == b.size() ? 0 : 1e9;
  for (std::size_t i = 0; i < a.size(); ++i) keep_furthest(far, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return far;
}

}  // namespace

TEST_CASE("a step of E4M3 learns as one of bf16 does, and the CPU's is close to the reference", "[quarters]") {
  for (float const dropout : {0.0f, 0.1f}) {
    auto const of_halves = losses<halves, tx::cpu>(dropout), of_quarters = losses<quarters, tx::cpu>(dropout);
    CHECK(of_halves.front() - of_halves.back() > 0.5f);
    CHECK(of_quarters.front() - of_quarters.back() > 0.5f);
    CHECK(furthest(of_halves, of_quarters) < 0.02);
    CHECK(furthest(of_halves, of_quarters) > 1e-4);  // and they are of E4M3
    auto const slow = losses<quarters, tx::reference>(dropout, 1, 3);
    CHECK(furthest(slow, {of_quarters.begin(), of_quarters.begin() + 3}) < 1e-4);
  }
}

TEST_CASE("a step of E4M3 is the same with any number of threads", "[quarters]") {
  auto const three = losses<quarters, tx::cpu>(0.1f, 3);
  CHECK(losses<quarters, tx::cpu>(0.1f, 1) == three);
}

TEST_CASE("what is computed again within a budget has the bits of what is kept", "[quarters]") {
  using again = step<tx::mixed<tx::e4m3>, tx::recompute<tx::KiB(64)>>;
  static_assert(again::memory.recomputed_flops > 0);
  CHECK(losses<again, tx::cpu>(0) == losses<quarters, tx::cpu>(0));
}
