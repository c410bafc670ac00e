// TwinBERT on two ranks, each with half of a batch, against one rank with all of it.
#include "../small_twinbert.hpp"
#include "../within.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/inspect/finite_guard.hpp>
#include <tx/nn/losses.hpp>
#include <tx/train/step.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace std::chrono_literals;

namespace {

using namespace small_twinbert;

// The loss of one shard of Pairs pairs.
template <int Pairs>
constexpr auto loss = [](auto const& m, tx::nn::query_ids<config, Pairs> q, tx::nn::document_ids<config, Pairs> d,
                         tx::tensor<float, Pairs> label) { return tx::nn::logistic_loss(m(q, d), label); };

template <int Pairs, class... Division>
using step = tx::train_step<model, loss<Pairs>, tx::adamw, tx::clip_gradient, Division...>;

constexpr int pairs = 12;  // of the whole batch
constexpr int steps = 5;
constexpr tx::seed start{7};

// What training leaves: a loss a step, then parameters and both moments.
struct trained {
  std::vector<float> losses;
  std::vector<std::vector<float>> blocks;
};
bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
void check_same(trained const& a, trained const& b) {
  CHECK(same_bits(a.losses, b.losses));
  REQUIRE(a.blocks.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) CHECK(same_bits(a.blocks[k], b.blocks[k]));
}

template <class Executor>
trained train(Executor& run, int first, int count, float dropout = 0.2f) {
  run.settings.set("dropout", dropout);
  run.settings.set("clip_norm", 0.3f);  // below the norms met here
  run.settings["learning_rate"] = 1e-2f;
  trained t;
  for (int s = 0; s < steps; ++s) {
    batch const b = batch_of(s, first, count);
    t.losses.push_back(run(b.queries, b.documents, b.labels).loss);
  }
  for (int k = 0; k < 3; ++k) t.blocks.emplace_back(run.elements(k).begin(), run.elements(k).end());
  return t;
}

template <class Step>
trained on_one(float dropout = 0.2f, int threads = 1) {
  tx::executor<Step, tx::cpu> run{start, {.threads = threads}};
  return train(run, 0, pairs, dropout);
}

// Each rank's result.
template <class Step>
std::vector<trained> on_ranks(int ranks) {
  std::vector<trained> all(static_cast<std::size_t>(ranks));
  within(60s, [&] {
    tx::dist::local_group group(ranks);
    group.run([&](tx::dist::local& rank) {
      tx::executor<Step, tx::distributed<tx::cpu, tx::dist::local>> run{start, rank, {.threads = 1}};
      all[static_cast<std::size_t>(rank.rank())] = train(run, rank.rank() * pairs / ranks, pairs / ranks);
    });
  });
  return all;
}

using alone = step<pairs>;
using ranks_2 = step<pairs / 2, tx::data_parallel<2>>;
using shards_2 = step<pairs / 2, tx::virtual_shards<2>>;

// The loss is that of a shard, the arguments are those of all shards of a rank.
static_assert(std::is_same_v<std::tuple_element_t<0, shards_2::arguments>, tx::nn::query_ids<config, pairs>>);
static_assert(std::is_same_v<std::tuple_element_t<0, ranks_2::arguments>, tx::nn::query_ids<config, pairs / 2>>);

static_assert(ranks_2::program<>::collective && !shards_2::program<>::collective);

}  // namespace

TEST_CASE("two ranks with half of the batch are one rank with all of it, bit for bit") {
  trained const one = on_one<shards_2>();
  auto const two = on_ranks<ranks_2>(2);
  check_same(two[0], one);
  check_same(two[1], one);
  CHECK(one.losses.front() != one.losses.back());
  check_same(on_one<shards_2>(0.2f, 4), one);
}

TEST_CASE("a rank's guard ends the run of all, and no rank's parameters have changed") {
  std::array<bool, 2> kept{};
  within(60s, [&] {
    tx::dist::local_group group(2);
    CHECK_THROWS_AS(group.run([&](tx::dist::local& rank) {
      tx::executor<ranks_2, tx::distributed<tx::cpu, tx::dist::local>> run{start, rank, {.threads = 1}};
      tx::finite_guard const guard{run};
      batch b = batch_of(0, rank.rank() * pairs / 2, pairs / 2);
      run(b.queries, b.documents, b.labels);
      auto const before = run.read();
      if (rank.rank() == 1) b.labels[2] = std::numeric_limits<float>::infinity();
      try {
        run(b.queries, b.documents, b.labels);
      } catch (tx::error const&) {
        kept[static_cast<std::size_t>(rank.rank())] = same_bits(before, run.read()) && run.steps_run() == 1;
        throw;
      }
    }), tx::not_finite_error);
  });
  CHECK((kept[0] && kept[1]));
}

TEST_CASE("shards drop the elements that the undivided batch drops") {
  trained const whole = on_one<alone>();
  trained const other = on_one<alone>(0.0f);
  trained const divided = on_one<shards_2>();
  double effect = 0;
  for (std::size_t s = 0; s < steps; ++s) {
    CHECK(divided.losses[s] == Approx(whole.losses[s]).epsilon(1e-5));
    effect = std::max(effect, std::abs(static_cast<double>(other.losses[s] - whole.losses[s])));
  }
  CHECK(effect > 1e-3);
}

TEST_CASE("a step needs as many ranks as it was compiled for") {
  tx::dist::local_group group(3);
  CHECK_THROWS_WITH(group.run([&](tx::dist::local& rank) {
    tx::executor<ranks_2, tx::distributed<tx::cpu, tx::dist::local>> run{start, rank};
  }),
                    "executor: the step was compiled for 2 ranks; there are 3. FIX: start so many, or compile it for as many, tx::data_parallel<N>, or data_parallel<> for any number");
}

TEST_CASE("ranks that would each train a model of their own are refused") {
  tx::dist::local_group group(2);
  CHECK_THROWS_WITH(group.run([&](tx::dist::local& rank) {
    tx::executor<alone, tx::distributed<tx::cpu, tx::dist::local>> run{start, rank};
  }),
                    Catch::Contains("2 ranks would train a model each"));
}

TEST_CASE("a rank with a bad batch stops the others, and all keep their parameters") {
  std::vector<trained> before(2), after(2);
  std::vector<int> told(2);
  tx::dist::local_group group(2);
  auto everything = [&] {
    group.run([&](tx::dist::local& rank) {
      auto const r = static_cast<std::size_t>(rank.rank());
      tx::executor<ranks_2, tx::distributed<tx::cpu, tx::dist::local>> run{start, rank, {.threads = 1}};
      before[r] = train(run, 6 * rank.rank(), 6);
      batch b = batch_of(0, 6 * rank.rank(), 6);
      if (rank.rank() == 1) b.queries[0] = config::vocabulary;
      try {
        run(b.queries, b.documents, b.labels);
      } catch (tx::error const&) {
        told[r] = 1;
        for (int k = 0; k < 3; ++k) after[r].blocks.emplace_back(run.elements(k).begin(), run.elements(k).end());
        throw;
      }
    });
  };
  within(60s, [&] { CHECK_THROWS_AS(everything(), tx::value_error); });
  CHECK(told == std::vector<int>{1, 1});
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t k = 0; k < 3; ++k) CHECK(same_bits(before[r].blocks[k], after[r].blocks[k]));
}
