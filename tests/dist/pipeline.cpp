// What ranks with some of the blocks each train, parts of the batch going from rank to rank, is what one rank with all of them does.
#include "pipelined.hpp"

#include <tx/nn/layer_norm.hpp>

using namespace divided;

TEST_CASE("two ranks with a block each train what one does, and drop the same numbers") {
  auto const one = heads_by_one<step_of_heads<accumulate<3>>>();
  CHECK(one[0] != one[3]);
  auto const two = heads_by_ranks<step_of_heads<accumulate<3>, pipeline<2>>>(2);
  CHECK(two[0] == two[1]);
  check_near(two[0], one, 1e-5, 1e-7);
}

TEST_CASE("what comes before the blocks, beside and behind them is computed where it is needed, and all ranks have one gradient by it") {
  check_pipelined<step_of_words<adamw, accumulate<4>, clip_gradient, gradient_norm>, step_of_words<adamw, accumulate<4>, clip_gradient, gradient_norm, pipeline<3>>>(3);
}

TEST_CASE("each rank keeps its blocks' matrices, and what it reads and writes is whole") {
  using two = step_of_heads<accumulate<3>, pipeline<2>>;
  using scores_of = function<loss_of_heads, stacked_heads, kept_as<two>>;
  using scores_whole = function<loss_of_heads, stacked_heads>;
  // Of two blocks' matrices one's: four of 64 elements, two of 96; the other numbers are vectors'.
  CHECK(two::memory.parameters <= step_of_heads<accumulate<3>>::memory.parameters - (4 * 64 + 2 * 96) * std::int64_t{sizeof(float)});
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
    bool const near = std::abs(score(x).value - alone(x).value) < 1e-6f;
    auto doubled = whole;
    for (float& w : doubled) w *= 2;
    run.write(doubled);
    bool const kept = run.read() == doubled;
    std::size_t portions = 0;
    for (auto const& t : run.portions()) portions += t.axis < 0 && t.shape.size() > 1 ? 1 : 0;
    return std::vector{begins_alike, near, kept, portions == 6};
  });
  for (auto const& of_rank : told) CHECK(of_rank == std::vector(4, true));
}

TEST_CASE("no more parts are kept than there are ranks") {
  auto const activations = [](auto step) { return decltype(step)::memory.activations; };
  auto const of_three = activations(step_of_heads<accumulate<3>, pipeline<2>>{}), of_eight = activations(step_of_heads<accumulate<8>, pipeline<2>>{});
  CHECK(of_three == of_eight);
  CHECK(of_three <= activations(step_of_heads<accumulate<3>>{}) * 3 / 2);
}

namespace {

template <class Model, auto Loss, int Ranks>
void pipelines() {
  graph g{};
  g.training = true;
  trace<Model, Loss>(g);
  dist::pipelined<Model>(g, Ranks, 2);
}
struct no_repeat {
  nn::linear<8, 8> only;
};
constexpr auto loss_of_none = [](no_repeat const& m, tensor<float, 3, 8> x) { return mean(m.only(x)); };
struct shares {
  nn::linear<8, 8> own;
  constexpr auto operator()(auto const& x) const { return own(x); }
};
struct gives_all {
  repeat<2, shares> body;
};
constexpr auto loss_of_all = [](gives_all const& m, tensor<float, 3, 8> x) {
  auto const [last, all] = m.body.outputs(x);
  return mean(last) + mean(all);
};
constexpr auto loss_of_nothing = [](gives_all const& m, tensor<float, 3, 8> x) { return mean(x * x) + mean(m.body(x)) * 0.0f; };
constexpr auto loss_of_ranks = [](gives_all const& m, tensor<float, 3, 8> x) { return mean(all_reduce(m.body(x))); };

}  // namespace

TEST_CASE("models that ranks cannot divide by blocks are refused") {
  CHECK_THROWS_WITH((pipelines<no_repeat, loss_of_none, 2>()), Catch::Contains("pipeline: the model repeats no block that has parameters"));
  CHECK_THROWS_WITH((pipelines<gives_all, loss_of_all, 2>()), Catch::Contains("pipeline: what each repeated block gives is read behind them all"));
  CHECK_THROWS_WITH((pipelines<gives_all, loss_of_ranks, 2>()), Catch::Contains("pipeline: the model speaks to other ranks itself"));
  CHECK_THROWS_WITH((pipelines<gives_all, loss_of_nothing, 3>()), Catch::Contains("pipeline: the ranks do not divide the blocks of a repeat"));
  CHECK_THROWS_WITH((pipelines<stacked_words, loss_of_words, 4>()), Catch::Contains("pipeline: the ranks do not divide the blocks of a repeat"));
}
