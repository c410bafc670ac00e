// mixed<e4m3> on ranks and shards that divide a batch, and parameters: each row has its own scale, so all of them have the bits of one rank. Ranks that divide products
// or layers have sums of their own.
#include "../within.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
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

constexpr int width = 32;

struct block {
  tx::nn::linear<width, 2 * width> wide;
  tx::nn::linear<2 * width, width> narrow;
  constexpr auto operator()(auto const& x) const { return x + tx::dropout(narrow(tx::gelu(wide(x)))); }
};
struct model {
  tx::repeat<2, block> layer;
  tx::nn::linear<width, 16> out;
  constexpr auto operator()(auto const& x) const { return out(layer(x)); }
};
template <int Rows>
constexpr auto loss = [](auto const& m, tx::tensor<float, Rows, width> x, tx::tensor<int, Rows> y) { return tx::cross_entropy(m(x), y); };
template <int Rows, class... Options>
using step = tx::train_step<model, loss<Rows>, tx::adamw, tx::mixed<tx::e4m3>, Options...>;

constexpr int rows = 12;
using values = std::vector<float>;

// Everything that training computes: the loss of each step, then the parameters and both moments.
template <class Executor>
values train(Executor& run, int first, int count) {
  run.settings.set("dropout", 0.3f);
  values all;
  for (int s = 0; s < 3; ++s) {
    values x;
    std::vector<int> y;
    for (int r = first; r < first + count; ++r) {
      for (int c = 0; c < width; ++c) x.push_back(std::sin(static_cast<float>(s * 31 + r * 7 + c * c)) * std::ldexp(1.0f, r % 5));
      y.push_back((r + s) % 16);
    }
    all.push_back(run(x, y).loss);
  }
  for (int k = 0; k < 3; ++k) {
    auto const part = run.read(k);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}
template <class Step>
values on_one() {
  tx::executor<Step, tx::cpu> run{tx::seed(3), {.threads = 1}};
  return train(run, 0, rows);
}
// same_batch: ranks divide something else than the batch.
template <class Step>
std::vector<values> on_ranks(int ranks, bool same_batch = false) {
  std::vector<values> all(static_cast<std::size_t>(ranks));
  within(60s, [&] {
    tx::dist::local_group group(ranks);
    group.run([&](tx::dist::local& rank) {
      tx::executor<Step, tx::distributed<tx::cpu, tx::dist::local>> run{tx::seed(3), rank, {.threads = 1}};
      all[static_cast<std::size_t>(rank.rank())] = same_batch ? train(run, 0, rows) : train(run, rank.rank() * rows / ranks, rows / ranks);
    });
  });
  return all;
}
void check_all(std::vector<values> const& ranks, values const& one) {
  for (auto const& r : ranks) {
    REQUIRE(r.size() == one.size());
    CHECK(std::memcmp(r.data(), one.data(), one.size() * sizeof(float)) == 0);
  }
}
void check_close(std::vector<values> const& ranks, values const& one) {
  for (auto const& r : ranks)
    for (std::size_t i = 0; i < 3; ++i) CHECK(r[i] == Approx(one[i]).epsilon(2e-2));
}

}  // namespace

TEST_CASE("four shards on one, two or four ranks, which may divide states and parameters", "[quarters]") {
  values const one = on_one<step<3, tx::virtual_shards<4>>>();
  check_all(on_ranks<step<3, tx::data_parallel<4>>>(4), one);
  check_all(on_ranks<step<3, tx::data_parallel<2>, tx::virtual_shards<2>>>(2), one);
  check_all(on_ranks<step<3, tx::data_parallel<4>, tx::zero<2>>>(4), one);
  check_all(on_ranks<step<3, tx::data_parallel<2>, tx::virtual_shards<2>, tx::zero<3>>>(2), one);
  check_close({one}, on_one<step<12>>());
}

TEST_CASE("ranks that divide products or layers", "[quarters]") {
  values const one = on_one<step<12>>();
  check_close(on_ranks<step<12, tx::tensor_parallel<2>>>(2, true), one);
  check_close(on_ranks<step<12, tx::pipeline<2>>>(2, true), one);
}

TEST_CASE("products by what ranks gather or have of a parameter are of E4M3 too", "[quarters]") {
  auto const products = []<class Step>() {
    tx::graph g;
    Step::record(g);
    int count = 0;
    for (int i = 0; i < g.size(); ++i) count += g[i].op->kind == tx::op_kind::product && g.info(g.input(i, 0)).type == tx::dtype::e4m3;
    return count;
  };
  int const one = products.operator()<step<12>>();  // two in a block and the last, forward and backward
  CHECK(one == 6);
  CHECK(products.operator()<step<12, tx::data_parallel<2>, tx::zero<3>>>() == one);
  CHECK(products.operator()<step<12, tx::tensor_parallel<2>>>() >= one - 1);
  CHECK(products.operator()<step<12, tx::pipeline<2>>>() >= one);
  CHECK(products.operator()<step<3, tx::virtual_shards<4>>>() == 4 * one);
}
