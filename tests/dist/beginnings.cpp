// Ranks that would train models which drift apart are told so: other seeds, other checkpoints, gradients that nobody adds, collectives that are not the same.
#include "within.hpp"

#include <tx/backends/reference.hpp>
#include <tx/dist/all_reduce.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <functional>

namespace {

using tx::dist::local;
using tx::dist::local_group;
using on_ranks = tx::distributed<tx::reference, local>;

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 2, 8> x) { return tx::sum(m.w * x); };
using step = tx::train_step<model, loss, tx::sgd, tx::data_parallel<2>>;
constexpr auto loss_of_all = [](model const& m, tx::tensor<float, 2, 8> x) { return tx::sum(tx::all_reduce(m.w * x)); };
using undivided = tx::train_step<model, loss_of_all, tx::sgd>;

// What the first of two ranks to fail says.
std::string said(std::function<void(local&)> const& each) {
  std::string text;
  within(std::chrono::seconds(20), [&] {
    try {
      local_group(2).run([&](local& rank) { each(rank); });
    } catch (tx::error const& e) {
      text = e.what();
    }
  });
  return text;
}
std::vector<float> const x(16, 0.5f);

}  // namespace

TEST_CASE("ranks that begin alike train, and those that do not are refused") {
  CHECK(said([](local& rank) {
          tx::executor<step, on_ranks> run{tx::seed(7), rank};
          run(x), run(x);
        }) == "");
  CHECK_THAT(said([](local& rank) {
               tx::executor<step, on_ranks> run{tx::seed(7 + static_cast<std::uint64_t>(rank.rank())), rank};
               run(x);
             }),
             Catch::Contains("begins with another seed than other ranks. FIX: the same seed, and the same checkpoint, on all"));
  CHECK_THAT(said([](local& rank) {
               tx::executor<step, on_ranks> run{tx::seed(7), rank};
               run.restore(rank.rank() * 3, 7);
               run(x);
             }),
             Catch::Contains("begins with another count of steps"));
  // A checkpoint that one rank has read, when they have trained for a while.
  CHECK_THAT(said([](local& rank) {
               tx::executor<step, on_ranks> run{tx::seed(7), rank};
               run(x);
               auto all = run.read();
               all[3] += rank.rank() == 1 ? 1e-6f : 0;
               run.write(all);
               run(x);
             }),
             Catch::Contains("begins with other parameters or states of the optimizer"));
}

TEST_CASE("a collective in the loss does not make a step one of several ranks") {
  CHECK_THAT(said([](local& rank) { tx::executor<undivided, on_ranks> run{tx::seed(7), rank}; }),
             Catch::Contains("2 ranks would train a model each. FIX: tx::data_parallel<>"));
}

TEST_CASE("ranks at different collectives are told, with numbers of one length too") {
  std::string const asked = said([](local& rank) {
    std::vector<float> v(4, 1.0f);
    if (rank.rank() == 0) rank.barrier();
    else rank.all_reduce(std::span<float const>(v), std::span<float>(v));
  });
  CHECK_THAT(asked, Catch::Contains("asks for") && Catch::Contains("another one for something else. FIX: run one program on all"));
}
