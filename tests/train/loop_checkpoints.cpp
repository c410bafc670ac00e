// Which checkpoints a run writes and keeps, and what becomes of them where it goes on from an earlier one.
#include "loop_run.hpp"

#include <catch2/catch.hpp>

using namespace tx::train;
using names = std::vector<std::string>;

TEST_CASE("checkpoints have the name of the run's step, the newest are kept", "[loop]") {
  temp_folder folder;
  checkpoints saves({.folder = folder / "c", .every = 10, .keep = 2});
  saves.begin();
  toy_run run;
  for (std::int64_t step : {220, 230, 230, 240}) {  // told to stop at a step that is saved anyway
    run.steps = step - 200;  // the optimizer has begun anew since
    REQUIRE(saves.due(step));
    saves.save(run, step, {});
  }
  saves.wait();
  CHECK(names_in(folder / "c") == names{"checkpoint-000230", "checkpoint-000240"});
  CHECK_FALSE(saves.due(241));
  CHECK_THROWS_WITH(saves.begin(), Catch::Contains("has checkpoints of another run. FIX"));
  toy_run other;
  CHECK(checkpoints({.folder = folder / "c"}).load(other).step == 40);
  checkpoints nothing({});
  CHECK_FALSE(nothing.wanted());
  CHECK_FALSE(nothing.due(0));
  nothing.save(run, 1, {});
  CHECK_THROWS_WITH(nothing.load(run), Catch::Contains("needs a folder"));
}

TEST_CASE("a run that goes back writes checkpoints under the names of their steps again", "[loop]") {
  temp_folder folder;
  auto const path = folder / "c";
  checkpoints first({.folder = path, .keep = 3, .best = true});
  toy_run run;
  for (std::int64_t const step : {10, 20, 30}) {
    run.steps = step;
    first.save(run, step, {});
    first.save_best(run, step, {});
  }
  first.wait();
  std::filesystem::resize_file(path / "checkpoint-000030/parameters.safetensors", 10);

  checkpoints again({.folder = path, .keep = 3, .best = true});
  auto const from = again.load(run);
  CHECK(from.step == 20);
  CHECK(from.skipped.size() == 1);
  again.go_on_from(from, 20);
  CHECK(names_in(path) == names{"best", "checkpoint-000010", "checkpoint-000020"});
  CHECK(names_in(path / "best").empty());  // that of step 30 comes again
  again.save(run, 20, {});                 // is there
  run.steps = 25;
  again.save(run, 25, {});
  again.save_best(run, 25, {});
  again.wait();
  CHECK(names_in(path) == names{"best", "checkpoint-000010", "checkpoint-000020", "checkpoint-000025"});
  CHECK(names_in(path / "best") == names{"checkpoint-000025"});
}

TEST_CASE("at its end a run saves, or removes what it has saved", "[loop]") {
  temp_folder folder;
  toy_run run;
  auto const nothing = [] { return to_save(); };
  checkpoints keeps({.folder = folder / "keeps"});
  keeps.end(run, 7, nothing);
  CHECK(names_in(folder / "keeps") == names{"checkpoint-000007"});
  checkpoints removes({.folder = folder / "removes", .at_end = at_end::remove});
  removes.save(run, 3, {});
  removes.wait();
  CHECK(names_in(folder / "removes") == names{"checkpoint-000003"});
  removes.end(run, 7, nothing);
  CHECK_FALSE(std::filesystem::exists(folder / "removes"));
}
