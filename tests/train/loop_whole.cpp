// Whole runs: ended anywhere and resumed they are the run that was left alone; validation, patience, phases, signals, what is refused.
#include "loop_run.hpp"

#include <catch2/catch.hpp>

using namespace tx::train;

namespace {

struct killed {};

// What a run leaves: parameters, losses and validations by step.
struct left {
  toy_run run;
  std::vector<std::pair<std::int64_t, double>> told;
  loop_result result;
};

struct recipe {
  std::filesystem::path folder;
  phase lasts{{.steps = 240}, {.count = 4}};
  std::int64_t kill_at = -1;  // before this step
  int signal_at = -1;         // in this one
  bool or_begin = false;
  loop_options options{};
  std::function<void(toy_run&, std::int64_t)> after = [](toy_run&, std::int64_t) {};  // a step, told which

  left run() const {
    left l;
    auto const column = numbers(50);
    shuffled_rows data({.rows = 50, .batch = 4, .seed = 3}, column);
    auto o = options;
    o.folder = folder;
    o.resume = tx::io::has_checkpoint(folder / "checkpoints");
    o.report.line = false;
    if (o.checkpoints.every == 0) o.checkpoints.every = 40;
    bool const begins = !o.resume;
    if (or_begin) o.resume = o.or_begin = true;
    l.run.key = !begins ? 99 : 5;  // a resumed run has the seed it began with
    if (!o.validate) o.validate = [&] { return std::abs(static_cast<double>(l.run.blocks[0][1]) - 0.4); };
    loop loop(l.run, data, o);
    loop.run(lasts, [&](moment const& now) -> step_told {
      if (now.step == kill_at) throw killed();
      if (now.step == signal_at) ::raise(SIGTERM);
      CHECK(now.share == static_cast<double>(now.done) / static_cast<double>(now.steps));
      double const loss = l.run.step(std::get<0>(data.next())[0]);
      after(l.run, now.step + 1);
      return {loss, {{"rows", 4}}, 0.1};
    });
    l.result = loop.finish();
    for (auto const& line : lines_of(folder / "metrics.jsonl"))
      l.told.emplace_back(line.at("step").get<std::int64_t>(), line.contains("loss") ? line.at("loss").get<double>() : -line.at("dev_loss").get<double>());
    return l;
  }
};

}  // namespace

TEST_CASE("a run that is killed or stopped and resumed is the run that was not", "[loop]") {
  temp_folder folder;
  left const whole = recipe{folder / "whole"}.run();
  CHECK(whole.result.steps == 240);
  REQUIRE(whole.result.best);
  CHECK(whole.result.best_step > 120);
  CHECK(whole.told.size() == 25 + 4);
  std::vector<std::int64_t> dev;
  for (auto const& [step, value] : whole.told)
    if (value < 0) dev.push_back(step);
  CHECK(dev == std::vector<std::int64_t>{151, 181, 211, 240});

  for (std::int64_t const at : {1, 39, 41, 80, 151, 230, 239}) {
    INFO("killed before step " << at);
    auto const cut = folder.path / ("cut" + std::to_string(at));
    recipe first{cut};
    first.kill_at = at;
    CHECK_THROWS_AS(first.run(), killed);
    recipe second{cut};
    if (at < 40) {  // nothing was saved: its files are no run's any more
      CHECK_THROWS_WITH(second.run(), Catch::Contains("has the metrics of another run"));
      second.or_begin = true;
    }
    left const resumed = second.run();
    CHECK(resumed.run == whole.run);
    CHECK(resumed.told == whole.told);  // each step's metrics once
    CHECK(resumed.result.best == whole.result.best);
    CHECK(resumed.result.best_step == whole.result.best_step);
    CHECK(names_in(cut / "checkpoints") == names_in(folder / "whole/checkpoints"));
  }
  for (int const at : {0, 80, 149, 239}) {
    INFO("told to stop in step " << at);
    auto const cut = folder.path / ("stopped" + std::to_string(at));
    recipe first{cut};
    first.signal_at = at;
    first.options.resume_by = "--resume";
    try {
      first.run();
      FAIL("it has not stopped");
    } catch (stopped const& s) {
      CHECK(s.signal == SIGTERM);
      CHECK(s.step == at + 1);
      CHECK(std::string(s.what()) == "SIGTERM after step " + std::to_string(at + 1) + "; the state is saved, and --resume goes on from it");
    }
    left const resumed = recipe{cut}.run();
    CHECK(resumed.run == whole.run);
    CHECK(resumed.told == whole.told);
  }
  // Once more, with nothing left to do.
  left const again = recipe{folder / "whole"}.run();
  CHECK(again.told == whole.told);
  CHECK(again.run == whole.run);
}

TEST_CASE("a run that has ended knows what its last validation said, and may be made longer", "[loop]") {
  temp_folder folder;
  recipe first{folder / "run", {{.steps = 40}, {.count = 1}}};
  first.options.checkpoints.best = true;
  left const ended = first.run();
  REQUIRE(ended.told.back().second < 0);  // it ends with a validation, at a step that is saved
  recipe longer{folder / "run", {{.steps = 80}, {.count = 1}}};
  longer.options.checkpoints.best = true;
  double const much = 100;
  longer.options.validate = [&] { return much; };  // not as good
  left const both = longer.run();
  CHECK(both.result.best == ended.result.best);
  CHECK(both.result.best_step == 40);
  CHECK(std::ranges::count(both.told, ended.told.back()) == 1);
  CHECK(both.told.back() == std::pair<std::int64_t, double>(80, -much));
}

TEST_CASE("patience ends a run early with its best state, and the best is a checkpoint too", "[loop]") {
  temp_folder folder;
  recipe r{folder / "run", {{.steps = 1000}, {.steps = 10}}};
  r.options.patience = 3;
  r.options.checkpoints.best = true;
  int improved = 0;
  r.options.improved = [&] { ++improved; };
  left const l = r.run();
  CHECK(l.result.stopped_early);
  CHECK(l.result.steps == l.result.best_step + 30);
  CHECK(improved > 0);
  CHECK(std::abs(static_cast<double>(l.run.blocks[0][1]) - 0.4) == *l.result.best);
  toy_run best;
  CHECK(tx::io::load_checkpoint(folder / "run/checkpoints/best", best).step == l.result.best_step);
  CHECK(best.blocks[0] == l.run.blocks[0]);
  // Resumed, it has ended already.
  left const again = r.run();
  CHECK(again.result.stopped_early);
  CHECK(again.result.steps == l.result.steps);
  CHECK(again.told == l.told);
}

TEST_CASE("phases follow each other under one count of steps, and a run resumes in any", "[loop]") {
  temp_folder folder;
  auto const train = [&](std::filesystem::path const& path, std::int64_t kill_at) {
    toy_run run;
    loop l(run, {.folder = path, .resume = tx::io::has_checkpoint(path / "checkpoints"), .checkpoints = {.every = 7}, .report = {.line = false}});
    auto const steps_of = [&](std::int64_t first, std::int64_t count, float given) {
      return [&run, kill_at, first, count, given](moment const& now) -> step_told {
        if (now.step == kill_at) throw killed();
        CHECK(now.done == now.step - first);
        CHECK(now.steps == count);
        return {run.step(given)};
      };
    };
    l.run({{.steps = 20}}, steps_of(0, 20, 0.5f));
    if (l.begin_phase()) run.steps = 0;  // the optimizer begins anew
    l.run({{.steps = 5}}, steps_of(20, 5, 0.75f));
    l.begin_phase();
    l.run({{.steps = 25}}, steps_of(25, 25, 1.0f));
    CHECK(l.finish().steps == 50);
    CHECK(run.steps == 30);
    return run;
  };
  auto const whole = train(folder / "whole", -1);
  CHECK(names_in(folder / "whole/checkpoints") == std::vector<std::string>{"checkpoint-000049", "checkpoint-000050"});
  for (std::int64_t const at : {8, 20, 21, 24, 27, 45}) {
    auto const path = folder.path / std::to_string(at);
    CHECK_THROWS_AS(train(path, at), killed);
    CHECK(train(path, -1) == whole);
  }
}

TEST_CASE("a run that is resumed and does not come to the phase that it was in cannot end", "[loop]") {
  temp_folder folder;
  for (bool const resumed : {false, true}) {
    toy_run run;
    loop l(run, {.folder = folder.path, .resume = resumed, .report = {.line = false}});
    int steps = 0;
    auto const step = [&](moment const& now) -> step_told {
      if (now.step == 4) ::raise(SIGTERM);
      ++steps;
      return {run.step(1)};
    };
    l.run({{.steps = 3}}, step);
    if (!resumed) {
      l.begin_phase();
      CHECK_THROWS_AS(l.run({{.steps = 3}}, step), stopped);
    } else {
      CHECK(steps == 0);
      CHECK_THROWS_WITH(l.finish(), Catch::Contains("the saved run was in its phase 2, this one is in 1. FIX: begin_phase()"));
      CHECK(tx::io::has_checkpoint(folder / "checkpoints"));
    }
  }
}

TEST_CASE("a run of so many seconds that is stopped before they are counted in steps has them when it is resumed", "[loop]") {
  temp_folder folder;
  hand_clock clock;
  auto const train = [&](bool resume) {
    toy_run run;
    loop l(run, {.folder = folder.path, .resume = resume, .report = {.line = false}, .now = clock.function()});
    std::int64_t told = 0;
    l.run({{.steps = 10'000, .seconds = 30, .fixed = true}}, [&](moment const& now) -> step_told {
      if (!resume && now.step == 10) ::raise(SIGTERM);
      clock.at += 0.25;
      told = now.steps;
      return {run.step(1)};
    });
    CHECK(told == 120);
    return l.finish().steps;
  };
  CHECK_THROWS_AS(train(false), stopped);
  CHECK(train(true) == 120);
}

TEST_CASE("a run that begins anew leaves no best state of the one that was killed before", "[loop]") {
  temp_folder folder;
  recipe r{folder / "run", {{.steps = 40}, {.steps = 10}}};
  r.or_begin = true;
  r.options.checkpoints = {.every = 1000, .best = true};
  r.kill_at = 30;
  CHECK_THROWS_AS(r.run(), killed);
  CHECK(tx::io::has_checkpoint(folder / "run/checkpoints/best"));
  CHECK_FALSE(tx::io::has_checkpoint(folder / "run/checkpoints"));
  r.kill_at = -1;
  left const l = r.run();
  toy_run best;
  CHECK(tx::io::load_checkpoint(folder / "run/checkpoints/best", best).step == l.result.best_step);
  CHECK(names_in(folder / "run/checkpoints/best") == std::vector<std::string>{tx::io::detail::checkpoint_path({}, l.result.best_step).string()});
}

TEST_CASE("parameters that are NaN end a run at the next validation, and the best state stays", "[loop]") {
  temp_folder folder;
  recipe r{folder / "run", {{.steps = 100}, {.steps = 10}}};
  r.options.validate = [] { return 0.5; };
  int improved = 0;
  r.options.improved = [&] { ++improved; };
  r.after = [](toy_run& run, std::int64_t step) {
    if (step == 20) run.blocks[0][2] = std::nanf("");
  };
  CHECK_THROWS_WITH(r.run(), Catch::Contains("step 20: a parameter is NaN. FIX"));
  CHECK(improved == 1);
}

TEST_CASE("metrics that somebody moved away end no run", "[loop]") {
  temp_folder folder;
  toy_run run;
  {
    loop l(run, {.folder = folder / "run", .checkpoints = {.every = 10}, .report = {.line = false}});
    l.run({{.steps = 40}}, [&](moment const& now) -> step_told {
      if (now.step == 15) std::filesystem::rename(folder / "run/metrics.jsonl", folder / "elsewhere");
      return {run.step(1)};
    });
    CHECK(l.finish().steps == 40);
    CHECK(lines_of(folder / "elsewhere").back().at("step") == 40);
  }
  toy_run resumed;
  CHECK_NOTHROW(loop(resumed, {.folder = folder / "run", .resume = true, .report = {.line = false}}));
}

TEST_CASE("the clock ends a run, and time before it was resumed counts", "[loop]") {
  temp_folder folder;
  hand_clock clock;
  auto const train = [&](int signal_at) {
    toy_run run;
    std::vector<double> shares;
    loop l(run, {.folder = folder.path, .resume = signal_at < 0, .report = {.line = false}, .now = clock.function()});
    try {
      l.run({{.seconds = 8}}, [&](moment const& now) -> step_told {
        shares.push_back(now.share);
        if (now.step == signal_at) ::raise(SIGINT);
        clock.at += 1;
        return {run.step(1)};
      });
      l.finish();
    } catch (stopped const& s) {
      CHECK(s.signal == SIGINT);
    }
    return shares;
  };
  CHECK(train(2) == std::vector<double>{0, 0.125, 0.25});
  clock.at += 1000;  // until somebody resumes it
  CHECK(train(-1) == std::vector<double>{0.375, 0.5, 0.625, 0.75, 0.875});
}

TEST_CASE("what a loop refuses", "[loop]") {
  temp_folder folder;
  toy_run run;
  loop_options const here{.folder = folder / "run", .report = {.line = false}, .common = {{"--rate", "0.1"}}};
  auto const steps = [&](moment const&) -> step_told { return {run.step(1)}; };
  {
    loop l(run, here);
    CHECK_THROWS_WITH(loop(run, here), Catch::Contains("another run is writing here"));
    l.run({{.steps = 3}}, steps);
    l.finish();
  }
  CHECK_THROWS_WITH(loop(run, here), Catch::Contains("has checkpoints of another run"));
  auto other = here;
  other.resume = true;
  other.common["--rate"] = "0.2";
  CHECK_THROWS_WITH(loop(run, other), Catch::Contains("--rate is not what the saved run had (0.1, now 0.2). FIX"));
  CHECK_THROWS_WITH(loop(run, {.folder = folder / "nothing", .resume = true}), Catch::Contains("holds no complete checkpoint"));
  CHECK_THROWS_WITH(loop(run, {.resume = true}), Catch::Contains("needs a folder of checkpoints"));

  loop alone(run, {.report = {.line = false}});
  CHECK_THROWS_WITH(alone.run({{.steps = 3}}, [](moment const&) -> step_told { return {std::nan("")}; }),
                    Catch::Contains("the loss is no number any more. FIX"));
  CHECK_THROWS_WITH(alone.run({{.steps = 9}}, [&](moment const&) -> step_told { return ::raise(SIGINT), step_told{run.step(1)}; }),
                    Catch::Contains("nothing is saved"));
  small_run<float> bare;
  CHECK_THROWS_WITH(loop(bare, {.validate = [] { return 1.0; }}), Catch::Contains("without read() and write()"));

  auto const measured = [] { return 1.0; };
  CHECK_THROWS_WITH(loop(run, {.checkpoints = {.every = 5}}), Catch::Contains("checkpoints.every without a folder"));
  CHECK_THROWS_WITH(loop(run, {.checkpoints = {.best = true}, .validate = measured}), Catch::Contains("checkpoints.best without a folder"));
  CHECK_THROWS_WITH(loop(run, {.folder = folder / "best", .checkpoints = {.best = true}}), Catch::Contains("checkpoints.best without validate"));
  CHECK_THROWS_WITH(loop(run, {.patience = 2}), Catch::Contains("patience without validate"));
  CHECK_THROWS_WITH(loop(run, {.validate = measured, .patience = -1}), Catch::Contains("patience is below 0"));
  CHECK_THROWS_WITH(loop(run, {.checkpoints = {.keep = 0}}), Catch::Contains("or keep below 1"));
  CHECK(!std::filesystem::exists(folder / "best"));  // refused before anything is written
}
