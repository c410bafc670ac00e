// Checkpoints that are written while steps go on: the same files as where steps wait, and nothing that goes wrong is lost.
#include "../io/same_files.hpp"
#include "../io/system_calls.hpp"
#include "loop_run.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <thread>

using namespace tx::train;
using names = std::vector<std::string>;

namespace {

struct run_of_loop {
  std::filesystem::path folder;
  checkpoint_options saves{.every = 7, .keep = 3, .best = true};
  hand_clock clock{};
  toy_run run{};

  loop_options options() {
    saves.folder = folder / "checkpoints";
    return {.folder = folder,
            .checkpoints = saves,
            .report = {.line = false},
            .validate = [this] { return std::abs(static_cast<double>(run.blocks[0][1]) - 0.4); },
            .now = clock.function()};
  }
  // `before` each step, told which.
  template <class F>
  loop_result operator()(std::int64_t steps, F before) {
    auto const column = numbers(50);
    shuffled_rows data({.rows = 50, .batch = 4, .seed = 3}, column);
    loop l(run, data, options());
    l.run({{.steps = steps}, {.steps = 5}}, [&](moment const& now) -> step_told {
      before(now.step);
      clock.at += 0.25;
      return {run.step(std::get<0>(data.next())[0])};
    });
    return l.finish();
  }
};
constexpr auto undisturbed = [](std::int64_t) {};


// What is thrown by f, which has to throw an io_error.
template <class F>
std::string io_error_of(F f) {
  try {
    f();
  } catch (tx::io_error const& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("a run that does not wait for its checkpoints leaves the files of one that does", "[loop]") {
  temp_folder folder;
  for (auto const end : {at_end::save, at_end::remove}) {
    for (bool const background : {true, false}) {
      run_of_loop r{folder / (background ? "back" : "front")};
      std::filesystem::remove_all(r.folder);
      r.saves.background = background;
      r.saves.at_end = end;
      CHECK(r(60, undisturbed).steps == 60);
    }
    auto const back = tree_of(folder / "back");
    CHECK(back == tree_of(folder / "front"));
    CHECK(back.size() == (end == at_end::save ? 3 * 5 + 8 : 8));
  }
}

TEST_CASE("checkpoint_options::background is what is meant if nothing is said", "[loop]") { CHECK(checkpoint_options{}.background); }

TEST_CASE("steps go on while a checkpoint is written", "[loop]") {
  temp_folder folder;
  run_of_loop r{folder / "run"};
  r.saves = {.every = 10};
  std::atomic<bool> reached{false};
  std::int64_t seen_at = -1;
  watched_calls const watch([&](std::string const&, bool) {
    while (!reached) std::this_thread::yield();  // the disk takes until step 15
    return 0;
  });
  CHECK(r(20, [&](std::int64_t step) {
          if (step < 15) return;
          if (step == 15 && !tx::io::has_checkpoint(folder / "run/checkpoints")) seen_at = step;
          reached = true;
        }).steps == 20);
  CHECK(seen_at == 15);
  CHECK(names_in(folder / "run/checkpoints") == names{"checkpoint-000010", "checkpoint-000020"});
}

TEST_CASE("a signal is answered when the state is on the disk, also while another is being written", "[loop]") {
  temp_folder folder;
  for (int const at : {10, 12, 20}) {
    std::filesystem::remove_all(folder / "run");
    run_of_loop r{folder / "run"};
    r.saves = {.every = 10};
    watched_calls const watch([&](std::string const&, bool done) {
      if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      return 0;
    });
    try {
      r(100, [&](std::int64_t step) {
        if (step == at) ::raise(SIGTERM);
      });
      FAIL("it has not stopped");
    } catch (stopped const& s) {
      CHECK(s.step == at + 1);
      CHECK(tx::io::detail::checkpoint_numbers(folder / "run/checkpoints").front() == at + 1);
      toy_run saved;
      CHECK(tx::io::load_checkpoint(folder / "run/checkpoints", saved).step == at + 1);
      CHECK(saved == r.run);
    }
  }
}

TEST_CASE("a save that fails ends the run at a step soon after, whose state is saved if that can be", "[loop]") {
  temp_folder folder;
  auto const path = folder / "run";
  std::atomic<int> failing{1};  // saves that fail, at their first call
  run_of_loop r{path};
  r.saves = {.every = 10};
  watched_calls const watch([&](std::string const& call, bool done) { return !done && call.find(".saving") != std::string::npos && failing-- > 0 ? ENOSPC : 0; });
  auto const run = [&] {
    r(100'000'000, [&](std::int64_t) { std::this_thread::yield(); });
  };
  std::string const told = io_error_of(run);
  CHECK_THAT(told, Catch::Contains((path / "checkpoints/.saving").string()) && Catch::Contains("No space left on device"));
  toy_run saved;
  auto const at = tx::io::load_checkpoint(path / "checkpoints", saved).step;
  CHECK((at > 10 && at <= 20));
  CHECK(saved == r.run);

  // Nothing can be written any more: that is told no less, and what was saved is left.
  failing = 1'000'000;
  std::filesystem::remove(path / "metrics.jsonl");
  std::filesystem::rename(path / "checkpoints", path / "old");
  r.run = {};
  CHECK_THAT(io_error_of(run), Catch::Contains("No space left on device"));
  CHECK_FALSE(tx::io::has_checkpoint(path / "checkpoints"));
  CHECK(tx::io::has_checkpoint(path / "old"));
}

TEST_CASE("a save that fails is told of at the end of the run and at a signal", "[loop]") {
  temp_folder folder;
  for (auto const end : {at_end::save, at_end::remove}) {
    for (bool const signal : {false, true}) {
      std::filesystem::remove_all(folder / "run");
      run_of_loop r{folder / "run"};
      r.saves = {.every = 10, .at_end = end};
      std::atomic<bool> last{false}, failed{false};
      watched_calls const watch([&](std::string const& call, bool done) {
        if (done || failed || call.find(".saving") == std::string::npos) return 0;
        while (!last) std::this_thread::yield();  // the last step has begun
        failed = true;
        return ENOSPC;
      });
      CHECK_THAT(io_error_of([&] {
                   r(15, [&](std::int64_t step) {
                     if (step < 14) return;
                     if (signal) ::raise(SIGINT);
                     last = true;
                   });
                 }),
                 Catch::Contains("No space left on device"));
      // The step's own state is there, but where it was not to be saved.
      bool const saved = signal || end == at_end::save;
      CHECK(failed);
      if (saved) CHECK(names_in(folder / "run/checkpoints") == names{"checkpoint-000015"});
    }
  }
}

TEST_CASE("a step that throws leaves the save before it complete", "[loop]") {
  temp_folder folder;
  run_of_loop r{folder / "run"};
  r.saves = {.every = 10};
  watched_calls const watch([&](std::string const&, bool done) {
    if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 0;
  });
  CHECK_THROWS_WITH(r(100,
                      [&](std::int64_t step) {
                        if (step == 10) throw tx::value_error("no more data");
                      }),
                    "no more data");
  CHECK(names_in(folder / "run/checkpoints") == names{"checkpoint-000010"});
  CHECK_FALSE(std::filesystem::exists(folder / "run/.lock"));
}

TEST_CASE("a step may be saved once more where its save has failed", "[loop]") {
  temp_folder folder;
  toy_run run;
  checkpoints saves({.folder = folder / "c"});
  {
    watched_calls const watch([](std::string const&, bool) { return EIO; });
    saves.save(run, 5, {});
    CHECK_THROWS_AS(saves.wait(), tx::io_error);
    saves.save(run, 5, {});
    while (!saves.failed()) std::this_thread::yield();
  }
  CHECK_THROWS_AS(saves.save(run, 5, {}), tx::io_error);  // of the one before: this one is on the disk
  CHECK(names_in(folder / "c") == names{"checkpoint-000005"});
  CHECK_NOTHROW(saves.wait());
}

TEST_CASE("a save that has failed is tried again before the best state is written and the failure told of", "[loop]") {
  temp_folder folder;
  run_of_loop r{folder / "run"};
  r.saves = {.every = 10, .best = true};
  std::atomic<bool> reached{false}, failed{false};
  watched_calls const watch([&](std::string const& call, bool done) {
    if (done || failed || call.find("checkpoints/.saving") == std::string::npos) return 0;
    while (!reached) std::this_thread::yield();
    failed = true;
    return ENOSPC;
  });
  std::string const told = io_error_of([&] {
    r(100, [&](std::int64_t step) {
      if (step < 14) return;
      reached = true;  // the save of step 10 fails now, and step 15 is validated before anybody asks for another
    });
  });
  CHECK_THAT(told, Catch::Contains("No space left on device"));
  CHECK(names_in(folder / "run/checkpoints") == names{"best", "checkpoint-000015"});
}
