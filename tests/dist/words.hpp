// Small models of words that are looked up and foretold, by one table or two, and steps of them: for vocabularies that ranks do not divide evenly.
#pragma once

#include "heads.hpp"

#include <tx/nn/embedding.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/max.hpp>
#include <tx/train/options.hpp>

namespace divided {

constexpr int word_rows = 6;
using word_ids = tensor<int, word_rows>;

template <int Words, int Width, bool Tied>
struct word_model {
  nn::embedding<Words, Width, decayed, init::normal<1, 2>> table;
  param<tensor<float, Width>, init::full<1>> scale;
  param<tensor<float, Words>> bias;
  constexpr auto logits(word_ids const& x) const { return matmul(tanh((table(x) + table(x + 1)) * scale), transpose(table.weight)) + bias; }  // behind the last word there is none
};
template <int Words, int Width>
struct word_model<Words, Width, false> {
  nn::embedding<Words, Width, decayed, init::normal<1, 2>> table;
  nn::linear<Width, Words> head;
  constexpr auto logits(word_ids const& x) const { return head(tanh(table(x))); }
};

struct told_of_words {
  tensor<float> loss, right;
};
// Labels below 0 are none. Right are those that no logit is above.
template <class Model>
constexpr auto loss_of_words = [](Model const& m, word_ids x, word_ids next) {
  auto const logits = m.logits(x);
  auto const label = reshape<word_rows, 1>(next);
  auto const own = sum<-1>(where(equal(iota<-1>(logits), label), logits, 0.0f));
  auto const best = stop_gradient(max<-1>(logits));
  return told_of_words{cross_entropy(logits, next, label_options{.ignore_index = -100, .label_smoothing = 0.1}), mean(cast<f32>(greater_equal(own, best)))};
};
using near_adamw = adamw_with<adam_options{.epsilon = 1e-3}>;  // where a gradient is rounding alone, its steps are small
template <class Model, class Optimizer, class... Options>
using step_of_words = train_step<Model, loss_of_words<Model>, Optimizer, Options...>;

template <class Told>
std::vector<float> numbers_told(Told const& told) {
  std::vector<float> all{static_cast<float>(told.loss), static_cast<float>(told.right)};
  if constexpr (requires { told.gradient_norm; }) all.push_back(static_cast<float>(told.gradient_norm));
  return all;
}
// What is told in so many steps, and then all parameters and states. batch: which of those that follow each other.
template <int Words, class Run>
std::vector<float> trained_words(Run& run, int batch = 0, int steps = 5) {
  constexpr int count = static_cast<int>(std::tuple_element_t<0, typename Run::arguments>::info.count());
  run.settings["learning_rate"] = 0.1f;
  run.settings.set("clip_norm", 0.5f);
  std::vector<float> all;
  for (int s = 0; s < steps; ++s) {
    std::vector<int> x, next;
    for (int k = batch * count; k < (batch + 1) * count; ++k) {
      x.push_back(k % 4 == 1 ? Words - 1 : (k * 7 + s * 5) % Words);  // the last word often
      next.push_back(k % 5 == 3 ? -100 : k % 5 == 0 ? Words - 1 : (k * 11 + s) % Words);
    }
    auto const told = numbers_told(run(x, next));
    all.insert(all.end(), told.begin(), told.end());
  }
  for (int k = 0; k <= run.states(); ++k) {
    auto const kept = run.read(k);
    all.insert(all.end(), kept.begin(), kept.end());
  }
  return all;
}
template <int Words, class Step>
std::vector<float> words_by_one() {
  executor<Step, cpu> run{seed(3), {.threads = 1}};
  return trained_words<Words>(run);
}
template <int Words, class Step>
auto words_by_ranks(int ranks) {
  return on_ranks(ranks, [](dist::local& rank) {
    executor<Step, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    return trained_words<Words>(run, grid_of<Step>(rank.size()).batch_of(rank.rank()));
  });
}
// All ranks have the same, which is near what one has.
inline void check_words(std::vector<std::vector<float>> const& ranks, std::vector<float> const& one, double epsilon = 1e-5, double margin = 1e-6) {
  CHECK(one[0] != one[2]);
  for (auto const& of_rank : ranks) CHECK(of_rank == ranks[0]);
  REQUIRE(ranks[0].size() == one.size());
  std::size_t far = 0;
  double most = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    double const apart = std::abs(static_cast<double>(ranks[0][i]) - one[i]);
    most = std::max(most, std::isnan(apart) ? 1 : apart);
    far += !(apart <= margin + epsilon * std::abs(one[i]));
  }
  CAPTURE(most);
  CHECK(far == 0);
}

}  // namespace divided
