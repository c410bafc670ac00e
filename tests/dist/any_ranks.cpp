// A step for as many ranks as there are: on threads and on processes' connections, the bits of one compiled for that many.
#include "../net/group.hpp"

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

#include <vector>

namespace {

using namespace tx;

constexpr int rows = 4, elements = rows * 12;  // of a shard

template <class T>
struct block_of {
  param<tensor<T, 12, 12>, init::normal<1, 4>> w;
  param<tensor<T, 12>> b;
  constexpr auto operator()(auto const& x) const { return tanh(matmul(x, w) + b); }
};
template <class T>
struct net_of {
  param<tensor<T, 12, 12>, init::normal<1, 4>> w;
  repeat<3, block_of<T>> body;
  param<tensor<T, 12, 3>, init::normal<1, 2>> v;
};
template <class T>
constexpr auto loss = [](net_of<T> const& m, tensor<T, rows, 12> x) {
  auto const y = matmul(m.body(tanh(dropout(matmul(x, m.w), 0.25f))), m.v);
  return mean(y * y);
};
template <class T, class... Options>
using step = train_step<net_of<T>, loss<T>, adamw, Options...>;

template <class T>
struct trained {
  std::vector<float> losses;
  std::vector<T> parameters;

  bool operator==(trained const&) const = default;
};

template <class T, class Step, class Communicator>
trained<T> train(Communicator& ranks, int shards = 1) {
  executor<Step, distributed<cpu, Communicator>> run{seed(3), ranks, {.threads = 1}};
  run.settings["learning_rate"] = 0.1f;
  run.settings.set("clip_norm", 0.2f);
  trained<T> out;
  for (int s = 0; s < 4; ++s) {
    std::vector<T> x;
    int const first = ranks.rank() * shards * elements;
    for (int i = first; i < first + shards * elements; ++i) x.push_back(static_cast<T>((i * 7 + s) % 13) / T{13});
    out.losses.push_back(static_cast<float>(run(x).loss));
  }
  auto const all = run.read();
  out.parameters.assign(all.begin(), all.end());
  return out;
}

template <class T, int Ranks, class... Options>
void check() {
  CAPTURE(Ranks, sizeof(T));
  dist::single alone;
  auto const one = train<T, step<T, virtual_shards<Ranks>, Options...>>(alone, Ranks);
  CHECK(one.losses.front() != one.losses.back());

  std::vector<trained<T>> fixed(Ranks), any(Ranks), connected(Ranks);
  dist::local_group group(Ranks);
  group.run([&](dist::local& rank) {
    auto const r = static_cast<std::size_t>(rank.rank());
    fixed[r] = train<T, step<T, data_parallel<Ranks>, Options...>>(rank);
    any[r] = train<T, step<T, data_parallel<>, Options...>>(rank);
  });
  ::net::run(Ranks, [&](::net::all& all) { connected[static_cast<std::size_t>(all.rank())] = train<T, step<T, data_parallel<>, Options...>>(all); });
  for (auto const& each : {fixed, any, connected})
    for (auto const& of_rank : each) CHECK(of_rank == one);
}

}  // namespace

TEST_CASE("a step for any number of ranks is the step for that number") {
  check<f32, 1>();
  check<f32, 2, clip_gradient>();
  check<f32, 3>();
  check<f32, 3, clip_gradient>();
  check<f32, 4>();
  check<f64, 3, clip_gradient>();
}

TEST_CASE("ranks of any number with shards of their own") {
  dist::single alone;
  auto const one = train<f32, step<f32, virtual_shards<4>>>(alone, 4);
  std::vector<trained<f32>> two(2);
  dist::local_group group(2);
  group.run([&](dist::local& rank) { two[static_cast<std::size_t>(rank.rank())] = train<f32, step<f32, data_parallel<>, virtual_shards<2>>>(rank, 2); });
  for (auto const& of_rank : two) CHECK(of_rank == one);
}

TEST_CASE("gradients that are sent as halves are those of f32, rounded") {
  using halves = step<f32, data_parallel<>, sends_gradients_as<bf16>>;
  std::vector<trained<f32>> local(2), connected(2), whole(2);
  dist::local_group group(2);
  group.run([&](dist::local& rank) {
    local[static_cast<std::size_t>(rank.rank())] = train<f32, halves>(rank);
    whole[static_cast<std::size_t>(rank.rank())] = train<f32, step<f32, data_parallel<>>>(rank);
  });
  ::net::run(2, [&](::net::all& all) { connected[static_cast<std::size_t>(all.rank())] = train<f32, halves>(all); });
  CHECK(local[1] == local[0]);
  CHECK(connected[0] == local[0]);
  CHECK(connected[1] == local[0]);
  CHECK_FALSE(local[0] == whole[0]);
  for (std::size_t i = 0; i < whole[0].parameters.size(); ++i) CHECK(local[0].parameters[i] == Approx(whole[0].parameters[i]).margin(0.02));
}
