// A small model whose heads and layers ranks can divide, and steps of it: for tests of tensor_parallel.
#pragma once

#include "divided.hpp"

#include <tx/dist/tensor_parallel.hpp>
#include <tx/nn/attend.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/train/sgd.hpp>

namespace divided {

// Heads by hand, with dropout of their probabilities and of what is fed on. Not all of it is trained.
struct heads {
  nn::linear<8, 8> q, k, v, out;
  nn::linear<8, 12> in;
  nn::linear<12, 8> back;
  param<tensor<float>, init::full<1>> factor;
  param<tensor<float, 8>, init::uniform<1, 2>, frozen> shift;
  constexpr auto operator()(tensor<float, 3, 4, 8> const& x) const {
    auto const split = [](auto const& y) { return transpose<0, 2, 1, 3>(reshape<3, 4, 4, 2>(y)); };
    auto const shifted = x + shift;
    auto const mixed = nn::attend(split(q(shifted)), split(k(x)), split(v(x)), nn::causal);
    auto const y = x + out(reshape<3, 4, 8>(transpose<0, 2, 1, 3>(mixed)));
    return y + back(dropout(gelu(in(y)) * factor, 0.25f));
  }
};
struct stacked_heads {
  repeat<2, heads> body;
};
constexpr auto loss_of_heads = [](stacked_heads const& m, tensor<float, 3, 4, 8> x) {
  auto const y = m.body(x);
  return mean(y * y);
};
template <class Optimizer, class... Options>
using heads_by = train_step<stacked_heads, loss_of_heads, Optimizer, Options...>;
template <class... Options>
using step_of_heads = heads_by<sgd, Options...>;

inline std::vector<float> numbers(int count, int seed) {
  std::vector<float> x;
  for (int i = 0; i < count; ++i) x.push_back(static_cast<float>((i * 7 + seed) % 13) / 13.0f - 0.4f);
  return x;
}
// batch: which of those that follow each other, as long as the step's.
template <class Run>
std::vector<float> trained_heads(Run& run, int batch = 0) {
  constexpr int count = static_cast<int>(std::tuple_element_t<0, typename Run::arguments>::info.count());
  run.settings["learning_rate"] = 0.3f;
  run.settings.set("dropout", 0.2f);
  run.settings.set("clip_norm", 0.2f);
  std::vector<float> told;
  for (int s = 0; s < 4; ++s) {
    auto const all = numbers((batch + 1) * count, s);
    told.push_back(run(std::span(all).last(count)).loss);
  }
  auto const all = run.read();
  told.insert(told.end(), all.begin(), all.end());
  return told;
}
template <class Step>
std::vector<float> heads_by_one() {
  executor<Step, cpu> run{seed(3), {.threads = 1}};
  return trained_heads(run);
}
template <class Step>
auto heads_by_ranks(int ranks) {
  return on_ranks(ranks, [](dist::local& rank) {
    executor<Step, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    return trained_heads(run);
  });
}
// On ranks of a grid, each row of which has a batch of its own.
template <class Step>
auto heads_by_grid(int ranks) {
  return on_ranks(ranks, [](dist::local& rank) {
    executor<Step, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    rank_grid const grid = grid_of<Step>(rank.size());
    return trained_heads(run, grid.batch_of(rank.rank()));
  });
}
inline void check_near(std::vector<float> const& got, std::vector<float> const& wanted, double epsilon, double margin) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).epsilon(epsilon).margin(margin));
}

}  // namespace divided
