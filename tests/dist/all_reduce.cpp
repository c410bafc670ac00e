// all_reduce as a node of a graph: its value, its gradient, its errors.
#include "within.hpp"

#include <tx/autodiff/reverse.hpp>
#include <tx/backends/cpu.hpp>
#include <tx/dist/all_reduce.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <vector>

using namespace std::chrono_literals;

namespace {

using matrix = tx::tensor<float, 2, 3>;

// What stands before and after the node is fused on its own side; its operand need not be dense.
constexpr auto total = [](matrix x) { return tx::all_reduce(tx::transpose(x * 2)) + 1; };

// sum(w * all_reduce(tanh(x))) and its gradient in x.
constexpr auto weighted = [](matrix x, matrix w) { return tx::sum(w * tx::all_reduce(tx::tanh(x))); };
struct with_gradient {
  struct result {
    tx::tensor<float> loss;
    matrix gradient;
  };
  using model = tx::no_model;
  using arguments = std::tuple<matrix, matrix>;
  static constexpr int states = 0;
  struct source {
    static constexpr tx::exec::lowered lower(tx::target const& to) {
      tx::graph g{};
      tx::trace<tx::no_model, weighted>(g);
      tx::vec<int> leaves{};
      for (int i = 0; i < g.size(); ++i)
        if (g[i].op == &tx::input_info && g[i].at.v[0] == 0) leaves.push_back(i);
      g.outputs.push_back({tx::gradients(g, g.outputs[0].value, leaves)[0]});
      return tx::exec::compile(g, to, {});
    }
  };
  template <tx::target const& To>
  using program = tx::exec::program<source, To>;
};

using ranked = tx::distributed<tx::cpu, tx::dist::local>;

std::vector<float> input(int rank) {
  std::vector<float> v;
  for (int i = 0; i < 6; ++i) v.push_back(0.1f * static_cast<float>(i + 1) - 0.3f * static_cast<float>(rank));
  return v;
}

}  // namespace

TEST_CASE("the value of the node is the sum over the ranks") {
  int const ranks = GENERATE(1, 2, 5);
  std::vector<std::vector<float>> got(static_cast<std::size_t>(ranks));
  within(20s, [&] {
    tx::dist::local_group group(ranks);
    group.run([&](tx::dist::local& rank) {
      tx::executor<tx::function<total>, ranked> run{tx::seed(0), rank};
      auto const r = run(input(rank.rank()));
      got[static_cast<std::size_t>(rank.rank())].assign(r.value.begin(), r.value.end());
    });
  });
  for (std::size_t k = 0; k < 6; ++k) {
    double sum = 1;
    for (int r = 0; r < ranks; ++r) sum += 2.0 * static_cast<double>(input(r)[k % 2 * 3 + k / 2]);
    for (auto const& g : got) {
      CHECK(g[k] == Approx(sum).epsilon(1e-5).margin(1e-5));
      CHECK(g[k] == got[0][k]);
    }
  }
}

TEST_CASE("the gradient is the sum of the ranks' gradients") {
  int const ranks = 3;
  std::vector<float> losses(ranks);
  std::vector<std::vector<float>> got(ranks);
  auto const weight = [](int rank, std::size_t k) {
    return static_cast<float>(rank + 1) * 0.5f + static_cast<float>(k);
  };
  within(20s, [&] {
    tx::dist::local_group group(ranks);
    group.run([&](tx::dist::local& rank) {
      tx::executor<with_gradient, ranked> run{tx::seed(0), rank};
      std::vector<float> w;
      for (std::size_t k = 0; k < 6; ++k) w.push_back(weight(rank.rank(), k));
      auto const r = run(input(rank.rank()), w);
      losses[static_cast<std::size_t>(rank.rank())] = r.loss;
      got[static_cast<std::size_t>(rank.rank())].assign(r.gradient.begin(), r.gradient.end());
    });
  });
  for (int rank = 0; rank < ranks; ++rank) {
    auto const at = static_cast<std::size_t>(rank);
    double loss = 0;
    for (std::size_t k = 0; k < 6; ++k) {
      double sum = 0;
      double weights = 0;
      for (int r = 0; r < ranks; ++r) {
        sum += std::tanh(static_cast<double>(input(r)[k]));
        weights += static_cast<double>(weight(r, k));
      }
      loss += static_cast<double>(weight(rank, k)) * sum;
      double const t = std::tanh(static_cast<double>(input(rank)[k]));
      CHECK(got[at][k] == Approx(weights * (1 - t * t)).epsilon(1e-5));
    }
    CHECK(losses[at] == Approx(loss).epsilon(1e-5));
  }
}

TEST_CASE("equal collectives are one, and unused ones are none") {
  constexpr auto count = [](tx::graph const& g) {
    int n = 0;
    for (tx::node const& x : g.nodes) n += x.op->kind == tx::op_kind::collective;
    return n;
  };
  tx::graph g{};
  tx::trace<tx::no_model, [](matrix x) { return (void)tx::all_reduce(x * 3), tx::all_reduce(x) + tx::all_reduce(x); }>(
      g);
  CHECK(count(g) == 2);
  CHECK(count(tx::exec::optimise(g, tx::cpu_target)) == 1);
}
