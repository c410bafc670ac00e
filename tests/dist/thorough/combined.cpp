// Every option of a step at once: parts of a batch within shards on ranks, clipped, recomputed, in halves, beside a frozen part and a teacher.
#include "../within.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/expr/inference.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/stop_gradient.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int width = 16, rows = 32;

struct block {
  tx::nn::linear<width, 24> wide;
  tx::nn::linear<24, width> narrow;
  constexpr auto operator()(auto const& x) const { return x + tx::dropout(narrow(tx::tanh(wide(x)))); }
};
struct net {
  tx::repeat<3, block> layer;
  constexpr auto operator()(auto const& x) const { return layer(x); }
};
struct model {
  net student;
  tx::frozen_module<net> teacher;
  tx::frozen_module<tx::nn::linear<width, width>> first;
  tx::nn::linear<width, width> last;
};
template <int Rows>
constexpr auto loss = [](model const& m, tx::tensor<float, Rows, width> x) {
  auto const seen = m.first(x);
  auto const taught = tx::stop_gradient(tx::inference(m.teacher)(seen));
  auto const error = m.last(m.student(seen)) - taught;
  return tx::mean(error * error);
};
template <int Rows, class... Options>
using step = tx::train_step<model, loss<Rows>, tx::adamw, Options...>;
constexpr std::int64_t budget = 6000;
template <class... Division>
using all_options = step<rows / 16, tx::accumulate<4>, tx::clip_gradient, tx::gradient_norm, tx::recompute<budget>, tx::mixed<tx::bf16>, Division...>;
static_assert(all_options<tx::virtual_shards<4>>::memory.activations <= budget);

using values = std::vector<float>;
struct outcome {
  values told;       // loss and norm of each step
  values parameters; // and both moments
};

template <class Executor>
outcome train(Executor& run, int first, int count, float dropout, int steps) {
  run.settings.set("dropout", dropout);
  run.settings.set("clip_norm", 0.5f);
  outcome all;
  for (int s = 0; s < steps; ++s) {
    values x;
    for (int e = first * width; e < (first + count) * width; ++e) x.push_back(std::sin(static_cast<float>(s * 31 + e % 97)));
    auto const result = run(x);
    all.told.push_back(result.loss);
    if constexpr (requires { result.gradient_norm; }) all.told.push_back(result.gradient_norm);
  }
  for (int k = 0; k < 3; ++k) all.parameters.insert(all.parameters.end(), run.elements(k).begin(), run.elements(k).end());
  return all;
}
template <class Step>
outcome on_one(float dropout, int steps = 4) {
  tx::executor<Step, tx::cpu> run{tx::seed(3), {.threads = 1}};
  return train(run, 0, rows, dropout, steps);
}
template <class Step>
std::vector<outcome> on_ranks(int ranks) {
  std::vector<outcome> all(static_cast<std::size_t>(ranks));
  within(60s, [&] {
    tx::dist::local_group group(ranks);
    group.run([&](tx::dist::local& rank) {
      tx::executor<Step, tx::distributed<tx::cpu, tx::dist::local>> run{tx::seed(3), rank, {.threads = 1}};
      all[static_cast<std::size_t>(rank.rank())] = train(run, rank.rank() * rows / ranks, rows / ranks, 0.2f, 4);
    });
  });
  return all;
}
bool same_bits(values const& a, values const& b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0; }

}  // namespace

TEST_CASE("parts, shards, clipping, recomputation, halves, a frozen part and a teacher: the same bits on 1, 2 and 4 ranks") {
  outcome const one = on_one<all_options<tx::virtual_shards<4>>>(0.2f);
  for (auto const& ranks : {on_ranks<all_options<tx::data_parallel<2>, tx::virtual_shards<2>>>(2), on_ranks<all_options<tx::data_parallel<4>>>(4)})
    for (outcome const& rank : ranks) {
      CHECK(same_bits(rank.told, one.told));
      CHECK(same_bits(rank.parameters, one.parameters));
    }
}

TEST_CASE("their gradients are those of the plain step") {
  outcome const plain = on_one<step<rows, tx::clip_gradient, tx::gradient_norm, tx::mixed<tx::bf16>>>(0, 1);
  outcome const divided = on_one<all_options<tx::virtual_shards<4>>>(0, 1);
  for (std::size_t i = 0; i < 2; ++i) CHECK(divided.told[i] == Approx(plain.told[i]).epsilon(5e-3));
  REQUIRE(divided.parameters.size() == plain.parameters.size());
  std::size_t const each = plain.parameters.size() / 3;
  double most = 0, worst = 0;
  for (std::size_t i = each; i < 2 * each; ++i) {  // the first moment: a tenth of the clipped gradient
    most = std::max(most, std::abs(static_cast<double>(plain.parameters[i])));
    worst = std::max(worst, std::abs(static_cast<double>(plain.parameters[i] - divided.parameters[i])));
  }
  CHECK(most > 1e-3);
  CHECK(worst < 0.02 * most);  // products round to halves, in other blocks of rows
  outcome const in_f32 = on_one<step<rows / 16, tx::accumulate<4>, tx::virtual_shards<4>, tx::clip_gradient>>(0, 1);
  outcome const plain_f32 = on_one<step<rows, tx::clip_gradient>>(0, 1);
  for (std::size_t i = each; i < 2 * each; ++i) CHECK(in_f32.parameters[i] == Approx(plain_f32.parameters[i]).margin(2e-6));
}

TEST_CASE("parts of shards drop what the whole batch drops") {
  outcome const parts = on_one<step<rows / 8, tx::accumulate<2>, tx::virtual_shards<4>>>(0.3f);
  outcome const shards = on_one<step<rows / 8, tx::virtual_shards<8>>>(0.3f);
  outcome const in_turn = on_one<step<rows / 8, tx::accumulate<8>>>(0.3f);
  outcome const whole = on_one<step<rows>>(0.3f);
  for (outcome const& o : {parts, shards, in_turn})
    for (std::size_t i = 0; i < whole.told.size(); ++i) CHECK(o.told[i] == Approx(whole.told[i]).epsilon(1e-4));
}
