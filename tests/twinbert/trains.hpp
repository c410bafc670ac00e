// Trains a tiny model on pairs that share their words: the loss has to fall.
#pragma once

#include <tx/backends/cpu.hpp>
#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

template <bool Shared, class Input, class Pooler, class Crossing>
struct tiny : tx::nn::twinbert_config {
  static constexpr int layers = 1;
  static constexpr int hidden = 16;
  static constexpr int heads = 2;
  static constexpr int ffn = 16;
  static constexpr int vocabulary = 40;
  static constexpr int query_words = 3;
  static constexpr int document_words = 5;
  static constexpr bool shared = Shared;
  using input = Input;
  using pooler = Pooler;
  using crossing = Crossing;
};

namespace twin_test {

constexpr int batch = 8;

template <class Config>
constexpr auto loss = [](auto const& model, tx::nn::query_ids<Config, batch> q, tx::nn::document_ids<Config, batch> d,
                         tx::tensor<tx::f32, batch> labels) { return tx::nn::logistic_loss(model(q, d), labels); };

// Text `n`: words of its own, as many as there are places but one.
inline std::vector<std::int32_t> text(int n, int words, int letters) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(words * std::max(letters, 1)), letters > 0 ? -1 : 0);
  for (int w = 0; w + 1 < words; ++w)
    for (int l = 0; l < std::max(1, letters - 1); ++l)
      ids[static_cast<std::size_t>(w * std::max(letters, 1) + l)] = 1 + (4 * n + w % 3 + 7 * l) % 39;
  return ids;
}

}  // namespace twin_test

template <class Config>
void check_that_it_trains(int letters) {
  using namespace twin_test;
  using step = tx::train_step<tx::nn::twinbert<Config>, loss<Config>, tx::adamw, tx::clip_gradient>;
  tx::executor<step, tx::cpu> run{tx::seed(3)};
  run.settings["learning_rate"] = 0.02f;
  run.settings.set("dropout", 0.1f);
  std::vector<std::int32_t> q, d;
  std::vector<float> labels;
  for (int row = 0; row < batch; ++row) {
    bool const match = row % 2 == 0;
    auto const append = [](auto& to, auto const& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(q, text(row, Config::query_words, letters));
    append(d, text(match ? row : row + 3, Config::document_words, letters));
    labels.push_back(match ? 1.0f : 0.0f);
  }
  float const before = run(q, d, labels).loss;
  float after = before;
  for (int i = 0; i < 30; ++i) after = run(q, d, labels).loss;
  REQUIRE(std::isfinite(before));
  CHECK(after < 0.7f * before);
}
