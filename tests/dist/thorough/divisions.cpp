// Ways to divide one batch among ranks and shards, on a small model: all compute the same bits.
#include "../within.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/dist/single.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <cmath>
#include <cstring>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int width = 12;

struct block {
  tx::nn::linear<width, width> inner;
  constexpr auto operator()(auto const& x) const { return x + tx::dropout(tx::gelu(inner(x))); }
};
struct model {
  tx::repeat<2, block> layer;
  tx::nn::linear<width, 3> out;
  constexpr auto operator()(auto const& x) const { return out(layer(x)); }
};

struct report {
  tx::tensor<float> loss;
  tx::tensor<float> size;  // mean of the squared scores
};

template <int Rows>
constexpr auto loss = [](auto const& m, tx::tensor<float, Rows, width> x, tx::tensor<int, Rows> y) {
  auto const scores = m(x);
  return report{tx::cross_entropy(scores, y), tx::mean(scores * scores)};
};
template <int Rows, class... Division>
using step = tx::train_step<model, loss<Rows>, tx::adamw, tx::clip_gradient, Division...>;

constexpr int rows = 12;
constexpr tx::seed start{3};
using values = std::vector<float>;

// Everything that training computes: loss and size of each step, then the parameters and both moments.
template <class Executor>
values train(Executor& run, int first, int count) {
  run.settings.set("dropout", 0.3f);
  run.settings.set("clip_norm", 0.2f);
  values all;
  for (int s = 0; s < 4; ++s) {
    values x;
    std::vector<int> y;
    for (int r = first; r < first + count; ++r) {
      for (int c = 0; c < width; ++c) x.push_back(std::sin(static_cast<float>(s * 31 + r * 7 + c * c)));
      y.push_back((r + s) % 3);
    }
    auto const result = run(x, y);
    all.push_back(result.loss);
    all.push_back(result.size);
  }
  for (int k = 0; k < 3; ++k) all.insert(all.end(), run.elements(k).begin(), run.elements(k).end());
  return all;
}

template <class Step, class Backend = tx::cpu>
values on_one() {
  tx::executor<Step, Backend> run{start, {.threads = 1}};
  return train(run, 0, rows);
}
template <class Step, class Backend = tx::cpu>
std::vector<values> on_ranks(int ranks) {
  std::vector<values> all(static_cast<std::size_t>(ranks));
  within(60s, [&] {
    tx::dist::local_group group(ranks);
    group.run([&](tx::dist::local& rank) {
      tx::executor<Step, tx::distributed<Backend, tx::dist::local>> run{start, rank, {.threads = 1}};
      all[static_cast<std::size_t>(rank.rank())] = train(run, rank.rank() * rows / ranks, rows / ranks);
    });
  });
  return all;
}

bool same_bits(values const& a, values const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
void check_all(std::vector<values> const& ranks, values const& one) {
  for (auto const& r : ranks) CHECK(same_bits(r, one));
}

template <class... Division>
using quarter = step<rows / 4, Division...>;
template <class... Division>
using third = step<rows / 3, Division...>;

static_assert(std::is_same_v<std::tuple_element_t<0, quarter<tx::data_parallel<2>, tx::virtual_shards<2>>::arguments>,
                             tx::tensor<float, rows / 2, width>>);
static_assert(
    std::is_same_v<std::tuple_element_t<1, quarter<tx::virtual_shards<4>>::arguments>, tx::tensor<int, rows>>);

}  // namespace

TEST_CASE("four shards on one, two or four ranks") {
  values const one = on_one<quarter<tx::virtual_shards<4>>>();
  check_all(on_ranks<quarter<tx::data_parallel<4>>>(4), one);
  check_all(on_ranks<quarter<tx::data_parallel<2>, tx::virtual_shards<2>>>(2), one);
}

TEST_CASE("three shards, and both backends") {
  values const one = on_one<third<tx::virtual_shards<3>>>();
  check_all(on_ranks<third<tx::data_parallel<3>>>(3), one);
  values const plain = on_one<third<tx::virtual_shards<3>>, tx::reference>();
  // It computes kernels in f64, so what is rounded depends on what is one kernel: there may be others.
  for (auto const& r : on_ranks<third<tx::data_parallel<3>>, tx::reference>(3)) {
    REQUIRE(r.size() == plain.size());
    for (std::size_t i = 0; i < r.size(); ++i) CHECK(r[i] == Approx(plain[i]).epsilon(1e-4).margin(1e-6));
  }
  for (std::size_t i = 0; i < 2; ++i) CHECK(one[i] == Approx(plain[i]).epsilon(1e-5));
}

TEST_CASE("results are means over the shards: those of the undivided batch") {
  values const whole = on_one<step<rows>>();
  values const divided = on_one<third<tx::virtual_shards<3>>>();
  for (std::size_t i = 0; i < 8; ++i) CHECK(divided[i] == Approx(whole[i]).epsilon(1e-4));
}

TEST_CASE("one rank with one shard needs no communicator, and may have one") {
  values const one = on_one<step<rows, tx::data_parallel<1>>>();
  tx::dist::single alone;
  tx::executor<step<rows, tx::data_parallel<1>>, tx::distributed<tx::cpu, tx::dist::single>> run{
      start, alone, {.threads = 1}};
  CHECK(same_bits(train(run, 0, rows), one));
}
