// A model with something before, beside and behind its blocks, and what several ranks make of it beside what one does: for tests of pipeline.
#pragma once

#include "heads.hpp"

#include <tx/dist/pipeline.hpp>
#include <tx/nn/embedding.hpp>
#include <tx/nn/layer_norm.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/not_equal.hpp>
#include <tx/ops/where.hpp>
#include <tx/train/clip.hpp>

namespace divided {

constexpr int texts = 2, places = 3, hidden = 8, words_known = 11;

// Attention by hand, with a bias that all blocks share and a mask, so that both stand beside the blocks.
struct word_block {
  nn::linear<hidden, hidden> q, k, v, out;
  nn::layer_norm<hidden> norm;
  constexpr auto operator()(tensor<float, texts, places, hidden> const& x, tensor<float, places, places> const& bias, tensor<float, texts, places, places> const& mask) const {
    auto const scores = matmul(q(x), transpose<0, 2, 1>(k(x))) + bias + mask;
    return norm(x + dropout(out(matmul(tanh(scores), v(x))), 0.1f));
  }
};
struct stacked_words {
  param<tensor<float, words_known, hidden>, init::normal<1, 2>> table;  // of what goes in, and of what is guessed
  param<tensor<float, places, places>, init::normal<1, 2>> bias;
  nn::layer_norm<hidden> first;
  repeat<6, word_block, peel::last> body;
  param<tensor<float, hidden>, init::normal<1, 2>> unseen, scale;
};
constexpr auto loss_of_words = [](stacked_words const& m, tensor<i32, texts, places> ids, tensor<i32, texts> labels) {
  auto const mask = where(not_equal(ids, 0), 0.0f, -0.5f);
  auto const all = broadcast_to<texts, places, places>(reshape<texts, 1, places>(mask));
  auto const last = m.body(dropout(m.first(embedding(m.table, reshape<texts, places, 1>(ids))), 0.1f), tanh(m.bias) * 0.5f, all);
  return cross_entropy(matmul(reshape<texts, hidden>(slice<1, 0, 1>(last)) * (m.scale + 1), transpose<1, 0>(m.table)), labels);
};
template <class Optimizer, class... Options>
using step_of_words = train_step<stacked_words, loss_of_words, Optimizer, Options...>;

// Losses and norms of three steps, and then all parameters and states.
template <class Run>
std::vector<float> trained_words(Run& run, int batch = 0) {
  constexpr int rows_of_batch = std::tuple_element_t<1, typename Run::arguments>::dims.dim[0];
  run.settings["learning_rate"] = 0.05f;
  run.settings.set("dropout", 0.2f);
  run.settings.set("clip_norm", 0.3f);
  std::vector<float> told;
  for (int s = 0; s < 3; ++s) {
    std::vector<int> ids, labels;
    for (int r = batch * rows_of_batch; r < (batch + 1) * rows_of_batch; ++r) {
      for (int p = 0; p < places; ++p) ids.push_back((r * 5 + p * 3 + s * 7) % words_known);
      labels.push_back((r + s) % words_known);
    }
    auto const result = run(ids, labels);
    told.push_back(result.loss);
    if constexpr (requires { result.gradient_norm; }) told.push_back(result.gradient_norm);
  }
  for (int k = 0; k <= run.states(); ++k) {
    auto const all = run.read(k);
    told.insert(told.end(), all.begin(), all.end());
  }
  return told;
}
// Several ranks by `Step` against one rank by `Whole`; each batch of a grid is a shard of it.
template <class Whole, class Step>
void check_pipelined(int ranks, double epsilon = 1e-5, double margin = 1e-6) {
  auto const one = [] {
    dist::single alone;
    executor<Whole, distributed<cpu, dist::single>> run{seed(3), alone, {.threads = 1}};
    return trained_words(run);
  }();
  CHECK(one[0] != one[2]);
  auto const all = on_ranks(ranks, [](dist::local& rank) {
    executor<Step, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    return trained_words(run, grid_of<Step>(rank.size()).batch_of(rank.rank()));
  });
  for (auto const& of_rank : all) CHECK(of_rank == all[0]);
  check_near(all[0], one, epsilon, margin);
}

}  // namespace divided
