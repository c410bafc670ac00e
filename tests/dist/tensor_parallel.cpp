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

// Of up to four places, of which a run has fewer.
struct bounded_heads {
  nn::linear<8, 8> q, k, v, out;
  nn::linear<8, 12> in;
  nn::linear<12, 8> back;
};
constexpr auto attends = [](bounded_heads const& m, tensor<float, 2, dyn<4>, 8> x) {
  auto const split = [](auto const& y) { return transpose<0, 2, 1, 3>(reshape<2, dyn<4>, 4, 2>(y)); };
  auto const y = m.out(reshape<2, dyn<4>, 8>(transpose<0, 2, 1, 3>(nn::attend(split(m.q(x)), split(m.k(x)), split(m.v(x))))));
  auto const z = y + m.back(dropout(gelu(m.in(y))));
  return mean(z * z);
};

TEST_CASE("runs of fewer rows than planned drop the same numbers as one rank") {
  using one = train_step<bounded_heads, attends, sgd>;
  using two = train_step<bounded_heads, attends, sgd, tensor_parallel<2>>;
  auto const losses = [](auto& run) {
    run.settings.set("dropout", 0.4f);
    std::vector<float> told;
    for (int places : {4, 3, 1}) told.push_back(run(numbers(2 * places * 8, places)).loss);
    return told;
  };
  executor<one, cpu> alone{seed(3), {.threads = 1}};
  auto const wanted = losses(alone);
  auto const got = on_ranks(2, [&](dist::local& rank) {
    executor<two, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    return losses(run);
  });
  CHECK(got[0] == got[1]);
  check_near(got[0], wanted, 1e-5, 1e-7);
}

TEST_CASE("an axis keeps its place among extents that are as many in each run") {
  using dist::detail::axis_in_order;
  shape const bounded_rows = extents(bounded(dyn<4>), bounded(16));
  CHECK(axis_in_order(bounded_rows, extents(bounded(dyn<4>), bounded(4), bounded(4)), 1) == 1);
  CHECK(axis_in_order(bounded_rows, extents(bounded(4), bounded(4), bounded(dyn<4>)), 1) == -1);  // as many at the most alone
  CHECK(axis_in_order(extents(2, 16), extents(2, 1, 4, 4), 1) == 2);
  CHECK(axis_in_order(extents(2, 4, 4), extents(2, 16), 1) == 1);
  CHECK(axis_in_order(extents(2, 4, 4), extents(2, 16), 2) == -1);
}

TEST_CASE("ranks that divide products have the same arguments and parameters, or are told so") {
  static constexpr auto scores = [](stacked_heads const& m, tensor<float, 3, 4, 8> x) { return loss_of_heads(m, x); };
  using program = function<scores, stacked_heads, tensor_parallel<2>>;
  auto const said = [](int of_seed, int of_batch) {
    std::string what = "nothing";
    try {
      on_ranks(2, [&](dist::local& rank) {
        executor<program, distributed<cpu, dist::local>> run{seed(static_cast<std::uint64_t>(3 + of_seed * rank.rank())), rank, {.threads = 1}};
        run(numbers(3 * 4 * 8, of_batch * rank.rank()));
        return 0;
      });
    } catch (error const& e) {
      what = e.what();
    }
    return what;
  };
  CHECK(said(0, 0) == "nothing");
  CHECK_THAT(said(1, 0), Catch::Contains("begins with another seed than other ranks"));
  CHECK_THAT(said(0, 1), Catch::Contains("begins with other arguments than other ranks"));
}

TEST_CASE("a program that divides nothing takes the parameters that ranks divide") {
  static constexpr auto learns = [](pair_of_layers const& m, tensor<float, 5, 6> x) {
    auto const y = feed(m, x);
    return mean(y * y);
  };
  static constexpr auto shown = [](pair_of_layers const& m, tensor<float, 5, 6> x) { return gelu(m.first(x)); };  // whole columns are handed out
  using two = train_step<pair_of_layers, learns, sgd, tensor_parallel<2>>;
  auto const told = on_ranks(2, [](dist::local& rank) {
    executor<two, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    auto const x = numbers(5 * 6, 2);
    run(x);
    executor<function<shown, pair_of_layers, kept_as<two>>, distributed<cpu, dist::local>> part{run, {.threads = 1}};
    executor<function<shown, pair_of_layers>, cpu> whole{seed(0), {.threads = 1}};
    whole.write(run.read());
    auto const& got = part(x).value;
    auto const& wanted = whole(x).value;
    return std::equal(got.begin(), got.end(), wanted.begin(), wanted.end());
  });
  CHECK(two::states.divides_parameters());
  CHECK(told == std::vector<int>{true, true});
}

TEST_CASE("a portion of what was gathered ends with zeros where rows do not divide") {
  static constexpr auto f = [](tensor<float, 3> x) { return own_rows<0, 2>(all_gather<0, 2, 5>(x)); };
  auto const told = on_ranks(2, [](dist::local& rank) {
    executor<function<f>, distributed<cpu, dist::local>> run{seed(0), rank};
    auto const& v = run(std::vector<float>{1, 2, 3}).value;
    return std::vector<float>(v.begin(), v.end());
  });
  CHECK(told[0] == std::vector<float>{1, 2, 3});
  CHECK(told[1] == std::vector<float>{1, 2, 0});
}

TEST_CASE("parts of products are for as many ranks as were named") {
  dist::single alone;
  CHECK_THROWS_WITH((executor<step_of_heads<tensor_parallel<2>>, distributed<cpu, dist::single>>{seed(3), alone}), Catch::Contains("the step was compiled for 2 ranks; there are 1. FIX: start so many"));
}
