// A real step in the loop: the same bits as a loop by hand, also where it is stopped in between.
#include "loop_run.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sub.hpp>
#include <tx/train/loop/fit.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx::train;

struct line {
  tx::nn::linear<2, 1> out;
  constexpr auto operator()(auto const& x) const { return out(tx::dropout(x)); }
};
constexpr auto loss = [](line const& m, tx::tensor<float, 4, 2> x, tx::tensor<float, 4, 1> y) {
  auto const d = m(x) - y;
  return tx::mean(d * d);
};
using step = tx::train_step<line, loss, tx::adamw>;
using executor = tx::executor<step, tx::cpu>;

}  // namespace

TEST_CASE("the rate that fit tells is that of the update, of which several runs make one", "[loop]") {
  temp_folder folder;
  tx::executor<tx::train_step<line, loss, tx::adamw, tx::accumulate_runs<4>>, tx::cpu> run{tx::seed(3), {.threads = 1}};
  run.settings["learning_rate"] = 0.05f;
  run.settings.schedule = {.shape = tx::decay_shape::linear, .total = 10};  // updates, 40 runs
  std::vector<float> const x = numbers(40), y(20, 1.0f);
  shuffled_rows data({.rows = 20, .batch = 4, .seed = 2}, x, y);
  fit(run, data, {{.steps = 40}}, {.folder = folder / "run", .report = {.every = 1, .line = false}});
  auto const lines = lines_of(folder / "run/metrics.jsonl");
  REQUIRE(lines.size() >= 40);
  for (std::size_t k = 0; k < 40; ++k) CHECK(lines[k].at("rate").get<float>() == Approx(0.05 * (1 - static_cast<double>(k / 4) / 10)).margin(1e-7));
  CHECK(run.rate() == 0);
}

TEST_CASE("fit trains an executor over shuffled rows, bit by bit as a loop by hand", "[loop]") {
  temp_folder folder;
  auto const x = numbers(40);
  std::vector<float> y;
  for (std::size_t i = 0; i < 20; ++i) y.push_back(3 * x[2 * i] - x[2 * i + 1]);
  rows_options const rows{.rows = 20, .batch = 4, .seed = 2};

  executor by_hand{tx::seed(3), {.threads = 1}};
  by_hand.settings["learning_rate"] = 0.05f;
  by_hand.settings.schedule = {tx::decay_shape::cosine, 5, 50};
  shuffled_rows batches(rows, x, y);
  for (int i = 0; i < 50; ++i) {
    auto const& [bx, by] = batches.next();
    by_hand(bx, by);
  }

  auto const options = [&](char const* name, bool resume) { return loop_options{.folder = folder / name, .resume = resume, .report = {.line = false}}; };
  executor run{tx::seed(3), {.threads = 1}};
  run.settings = by_hand.settings;
  shuffled_rows data(rows, x, y);
  auto const result = fit(run, data, {in_epochs(10, data.size(), data.batch())}, options("whole", false), folder / "trace.json");
  CHECK(result.steps == 50);
  CHECK(run.read() == by_hand.read());
  CHECK(std::filesystem::file_size(folder / "trace.json") > 100);
  auto const lines = lines_of(folder / "whole/metrics.jsonl");
  REQUIRE(lines.size() == 6);
  CHECK(lines[0].at("rate").get<float>() == Approx(0.01));
  CHECK(lines[0].contains("rows_per_second"));
  CHECK(lines.back().at("loss").get<double>() < lines.front().at("loss").get<double>());

  // Stopped in its 18th step, resumed by another executor and data.
  {
    executor first{tx::seed(3), {.threads = 1}};
    first.settings = by_hand.settings;
    shuffled_rows own(rows, x, y);
    loop l(first, own, options("cut", false));
    auto steps = steps_of(first, own);
    CHECK_THROWS_AS(l.run({{.steps = 50}}, [&](moment const& now) { return now.step == 17 ? (::raise(SIGTERM), steps(now)) : steps(now); }), stopped);
  }
  executor second{tx::seed(8), {.threads = 1}};
  shuffled_rows own({.rows = 20, .batch = 4, .seed = 77}, x, y);
  CHECK(fit(second, own, {{.steps = 50}}, options("cut", true)).steps == 50);
  CHECK(second.read() == by_hand.read());
  CHECK(second.read(1) == by_hand.read(1));

  // Made longer: the schedule is the one that is set now, and so the rate is not at its end.
  executor longer{tx::seed(3), {.threads = 1}};
  longer.settings = by_hand.settings;
  longer.settings.schedule.total = 100;
  shuffled_rows more(rows, x, y);
  CHECK(fit(longer, more, {{.steps = 100}}, options("cut", true)).steps == 100);
  CHECK(longer.settings.schedule.total == 100);
  CHECK(longer.read() != by_hand.read());
}
