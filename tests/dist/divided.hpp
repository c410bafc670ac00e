// A model that has a parameter of every kind, trained on ranks that divide it in each way, and what all of them then have: for tests that compare bits.
#pragma once

#include "within.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/dist/single.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace divided {

using namespace tx;
using namespace std::chrono_literals;

constexpr int rows = 4, width = 10;  // of a shard

struct vectors {  // a group that has no matrix, so that they lie in rows
  static constexpr float rate = 1.0f;
  static constexpr float decay = 0.0f;
};
template <class T>
struct block {
  param<tensor<T, width, width>, init::normal<1, 4>> w;
  param<tensor<T, width>> own;                             // a vector in the group of matrices
  param<tensor<T, 1, 7, width>, init::normal<1, 4>> one;   // of one row, which no rank has a part of
  param<tensor<T, width>, init::zeros, vectors> b;
  constexpr auto operator()(auto const& x) const { return tanh(matmul(x, w) * (own + 1) + b + mean(one)); }
};
template <class T>
struct stack {
  repeat<2, block<T>> inner;
  constexpr auto operator()(auto const& x) const { return inner(x); }
};
template <class T>
struct net {
  param<tensor<T, width, 13>, init::normal<1, 4>> first;
  param<tensor<T, 13, width>, init::normal<1, 4>> second;
  repeat<3, stack<T>> body;
  param<tensor<T, width, 3>, init::normal<1, 2>> last;
  param<tensor<T, 2500>, init::full<1>, vectors> scale;  // three rows, with the others
  param<tensor<T>> number;
  param<tensor<T, 5, 4>, init::normal<1, 2>> unused;  // decays alone
  param<tensor<T, 0, 5>> nothing;
  constexpr auto operator()(auto const& x) const { return matmul(body(tanh(dropout(matmul(matmul(x, first), second), 0.25f))), last) * mean(scale) + number; }
};
template <class T>
constexpr auto loss = [](net<T> const& m, tensor<T, rows, width> x) {
  auto const y = m(x);
  return mean(y * y);
};
template <class T, class Optimizer, class... Options>
using step = train_step<net<T>, loss<T>, Optimizer, Options...>;

// Of so many rows from row `first` on, in step s.
template <class T>
std::vector<T> batch(int s, int first, int count) {
  std::vector<T> x;
  for (int i = first * width; i < (first + count) * width; ++i) x.push_back(static_cast<T>((i * 7 + s) % 13) / T{13});
  return x;
}

template <class T>
struct trained {
  std::vector<double> told;            // losses and norms
  std::vector<std::vector<T>> blocks;  // parameters and states
};

template <class Run>
auto trained_steps(Run& run, int first, int steps = 4, int from = 0) {
  using T = typename decltype(run.read())::value_type;
  run.settings["learning_rate"] = 0.1f;
  run.settings.set("clip_norm", 0.2f);
  trained<T> out;
  for (int s = from; s < from + steps; ++s) {
    constexpr int count = std::tuple_element_t<0, typename Run::arguments>::dims.dim[0];
    auto const told = run(batch<T>(s, first * count, count));
    out.told.push_back(static_cast<double>(told.loss));
    if constexpr (requires { told.gradient_norm; }) out.told.push_back(static_cast<double>(told.gradient_norm));
  }
  for (int k = 0; k <= run.states(); ++k) out.blocks.push_back(run.read(k));
  return out;
}

// f(rank) on each of so many threads; what it returns, by rank.
template <class F>
auto on_ranks(int ranks, F const& f) {
  using given = decltype(f(std::declval<dist::local&>()));
  using result = std::conditional_t<std::is_same_v<given, bool>, int, given>;  // bits of a byte are not written by several threads
  std::vector<result> all(static_cast<std::size_t>(ranks));
  within(120s, [&] {
    dist::local_group group(ranks);
    group.run([&](dist::local& rank) { all[static_cast<std::size_t>(rank.rank())] = f(rank); });
  });
  return all;
}
template <class Step, class Backend = cpu, class Communicator>
auto trained_by(Communicator& ranks) {
  executor<Step, distributed<Backend, Communicator>> run{seed(3), ranks, {.threads = 1}};
  return trained_steps(run, ranks.rank());
}
template <class Step>
auto trained_on(int ranks) {
  return on_ranks(ranks, [](dist::local& rank) { return trained_by<Step>(rank); });
}
template <class Step>
auto trained_alone() {
  dist::single alone;
  return trained_by<Step>(alone);
}

// The bits of all parameters and states, but not of what lies between them.
template <class Model, class T>
void check_same(std::vector<trained<T>> const& ranks, trained<T> const& one, char const* what) {
  CAPTURE(what);
  for (trained<T> const& of_rank : ranks) {
    CHECK(of_rank.told == one.told);
    REQUIRE(of_rank.blocks.size() == one.blocks.size());
    for (std::size_t k = 0; k < one.blocks.size(); ++k) {
      CAPTURE(k);
      REQUIRE(of_rank.blocks[k].size() == one.blocks[k].size());
      std::string unlike;
      auto const bytes = [&](trained<T> const& of, parameter_view const& v) { return reinterpret_cast<char const*>(of.blocks[k].data()) + v.first_byte(); };
      for (auto const& v : k == 0 ? parameters_of<Model>() : states_of<Model>(per::element))
        if (std::memcmp(bytes(of_rank, v), bytes(one, v), static_cast<std::size_t>(v.bytes())) != 0) unlike += v.name + ' ';
      CHECK(unlike == "");
    }
  }
}

// On so many ranks, with each of these stages of zero, what one rank with all shards computes.
template <class T, int Ranks, class Optimizer, int... Stages, class... Options>
void check_stages(std::integer_sequence<int, Stages...>, Options...) {
  CAPTURE(Ranks);
  auto const one = trained_alone<step<T, Optimizer, virtual_shards<Ranks>, Options...>>();
  CHECK(one.told.front() != one.told.back());
  (check_same<net<T>>(trained_on<step<T, Optimizer, data_parallel<Ranks>, zero<Stages>, Options...>>(Ranks), one, Stages == 1 ? "zero<1>" : Stages == 2 ? "zero<2>" : "zero<3>"), ...);
}

}  // namespace divided
