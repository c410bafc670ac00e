// What ranks divide of a program's products, and the pair of ops that stands before and behind a part: values, gradients, random numbers.
#include "heads.hpp"

#include <tx/autodiff/grad.hpp>
#include <tx/nn/layer_norm.hpp>
#include <tx/ops/sum.hpp>

using namespace divided;

namespace {

// Of a graph's nodes, those of a name.
int count(graph const& g, std::string const& name) {
  int n = 0;
  for (int id = 0; id < g.size(); ++id) n += name == g[id].op->name;
  return n;
}
template <class Model, auto F>
graph recorded(int ranks) {
  graph g{};
  g.training = true;
  trace<Model, F>(g);
  dist::divide_products(g, ranks);
  return g;
}

struct pair_of_layers {
  nn::linear<6, 8> first;
  nn::linear<8, 6> second;
};
constexpr auto feed = [](pair_of_layers const& m, tensor<float, 5, 6> x) { return m.second(gelu(m.first(x))); };
// A norm wants whole rows, so there is nothing that ranks could divide.
struct normed {
  nn::linear<6, 8> first;
  nn::layer_norm<8> norm;
};
constexpr auto norm_behind = [](normed const& m, tensor<float, 5, 6> x) { return m.norm(m.first(x)); };
// A product whose columns are handed out.
struct two_ways {
  nn::linear<6, 8> first, shown;
  nn::linear<8, 6> second;
};
constexpr auto shows = [](two_ways const& m, tensor<float, 5, 6> x) {
  auto const seen = m.shown(x);
  return std::tuple(m.second(gelu(m.first(x)) * seen), seen);
};

using four = tensor<float, 4>;
constexpr auto pair_of_ops = [](four x, four w) {
  auto const y = sum_over_ranks(summed_gradient(x) * w);
  return sum(y * y * 0.5f);
};
struct both_gradients {
  four by_x, by_w;
};
constexpr auto pair_of_gradients = [](four x, four w) {
  auto const [by_x, by_w] = grad<pair_of_ops, 0, 1>(x, w);
  return both_gradients{by_x, by_w};
};

}  // namespace

TEST_CASE("columns of a first layer and rows of a second are divided, others are left whole") {
  graph const two = recorded<pair_of_layers, feed>(2);
  CHECK(count(two, "sum_over_ranks") == 1);
  CHECK(count(two, "summed_gradient") == 0);  // nobody wants a gradient by an argument
  CHECK(count(two, "own_rows") == 3);  // both weights, one bias
  CHECK_THROWS_WITH((recorded<pair_of_layers, feed>(3)), Catch::Contains("tensor_parallel: no products were found that so many ranks can divide"));
  CHECK_THROWS_WITH((recorded<normed, norm_behind>(2)), Catch::Contains("tensor_parallel: no products were found"));
  CHECK_THROWS_WITH((recorded<two_ways, shows>(2)), Catch::Contains("tensor_parallel: no products were found"));  // what is handed out, and all that meets it
}

TEST_CASE("a sum over ranks and a summed gradient are each other's gradients") {
  auto const told = on_ranks(3, [](dist::local& rank) {
    executor<function<pair_of_gradients>, distributed<cpu, dist::local>> run{seed(0), rank};
    std::vector<float> const x{1, 2, 3, 4};
    std::vector<float> w;
    for (int i = 0; i < 4; ++i) w.push_back(static_cast<float>(rank.rank() + i));
    auto const r = run(x, w);
    return std::pair(std::vector<float>(r.by_x.begin(), r.by_x.end()), std::vector<float>(r.by_w.begin(), r.by_w.end()));
  });
  for (int r = 0; r < 3; ++r)
    for (int i = 0; i < 4; ++i) {
      float const x = static_cast<float>(i + 1), all = static_cast<float>(3 * i + 3);  // the sum of w
      auto const k = static_cast<std::size_t>(i);
      CHECK(told[static_cast<std::size_t>(r)].first[k] == x * all * all);    // of y y / 2 with y = x all
      CHECK(told[static_cast<std::size_t>(r)].second[k] == x * x * all);
    }
}

TEST_CASE("two ranks with half the heads each train what one does, and drop the same numbers") {
  auto const one = heads_by_one<step_of_heads<>>();
  CHECK(one[0] != one[3]);
  auto const two = heads_by_ranks<step_of_heads<tensor_parallel<2>>>(2);
  CHECK(two[0] == two[1]);
  check_near(two[0], one, 1e-4, 2e-6);
}

TEST_CASE("each rank keeps its part of the matrices, and what it reads and writes is whole") {
  using two = step_of_heads<tensor_parallel<2>>;
  using scores_of = function<loss_of_heads, stacked_heads, kept_as<two>>;
  using scores_whole = function<loss_of_heads, stacked_heads>;
  // In each block half of four matrices of 64 and two of 96; the other numbers are vectors'.
  CHECK(two::memory.parameters <= step_of_heads<>::memory.parameters - 2 * (4 * 64 + 2 * 96) / 2 * std::int64_t{sizeof(float)});
  auto const told = on_ranks(2, [](dist::local& rank) {
    executor<two, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    auto const fresh = run.read();
    trained_heads(run);
    auto const whole = run.read();
    executor<scores_of, distributed<cpu, dist::local>> score{run, {.threads = 1}};
    executor<scores_whole, cpu> alone{seed(3), {.threads = 1}};
    bool const begins_alike = alone.read() == fresh;
    alone.write(whole);
    auto const x = numbers(3 * 4 * 8, 7);
    bool const near = std::abs(score(x).value - alone(x).value) < 1e-5f;
    auto doubled = whole;
    for (float& w : doubled) w *= 2;
    run.write(doubled);
    bool const kept = run.read() == doubled;
    bool refused = false;
    try {
      executor<function<loss_of_heads, stacked_heads, tensor_parallel<2>>, distributed<cpu, dist::local>> other{run};
    } catch (value_error const&) {
      refused = true;
    }
    return std::vector{begins_alike, near, kept, refused};
  });
  for (auto const& of_rank : told) CHECK(of_rank == std::vector(4, true));
}

TEST_CASE("parts of products are for as many ranks as were named") {
  dist::single alone;
  CHECK_THROWS_WITH((executor<step_of_heads<tensor_parallel<2>>, distributed<cpu, dist::single>>{seed(3), alone}), Catch::Contains("the step was compiled for 2 ranks; there are 1. FIX: start so many"));
}
