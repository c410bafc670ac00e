// A small BERT that trains a few steps, as tests of what its products are made of have it.
#pragma once

#include "../../furthest.hpp"

#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <cmath>
#include <vector>

namespace small_bert {

using ids = tx::tensor<tx::i32, 4, 9>;
inline constexpr auto loss = [](auto const& m, ids words, ids mask, tx::tensor<tx::i32, 4> label) { return tx::cross_entropy(m(words, mask), label); };
template <class Config, class... Options>
using step = tx::train_step<tx::nn::bert_classifier<Config, 3>, loss, tx::adamw, Options...>;

// The losses of a few steps, which so depend on gradients too.
template <class Step, class Backend>
std::vector<float> losses(float dropout, int threads, int steps) {
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

inline double furthest(std::vector<float> const& a, std::vector<float> const& b) {
  double far = a.size() == b.size() ? 0 : 1e9;
  for (std::size_t i = 0; i < a.size(); ++i) keep_furthest(far, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return far;
}

}  // namespace small_bert
