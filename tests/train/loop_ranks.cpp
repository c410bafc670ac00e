// What loops of ranks that train one model share: the signal they go by, and the checkpoints that one of them writes.
#include "loop_run.hpp"

#include <catch2/catch.hpp>

#include <csignal>

using namespace tx::train;

namespace {

std::size_t checkpoints_in(std::filesystem::path const& folder) {
  std::size_t count = 0;
  std::error_code none;
  for (std::filesystem::directory_iterator at(folder, none), end; !none && at != end; at.increment(none)) ++count;
  return count;
}

std::int64_t steps_until_stopped(loop_options const& o, int raised_in) {
  toy_run run;
  loop l(run, o);
  try {
    l.run({{.steps = 20}}, [&](moment const& now) -> step_told {
      if (now.step == raised_in) ::raise(SIGTERM);
      return {run.step(0.5f)};
    });
  } catch (stopped const& s) {
    CHECK(s.signal == SIGTERM);
    return s.step;
  }
  return 20;
}

}  // namespace

TEST_CASE("a loop goes by the signal that its ranks agree on", "[loop]") {
  loop_options o;
  o.report.line = false;
  int asked = 0;
  // Another rank's: this process had none.
  o.agreed = [&](int own) {
    CHECK(own == 0);
    return ++asked == 7 ? SIGTERM : 0;
  };
  CHECK(steps_until_stopped(o, -1) == 7);
  CHECK(asked == 7);
  // Its own, which the others have not had: it goes on until they have.
  o.agreed = [&](int own) { return ++asked >= 7 + 12 ? own : 0; };
  CHECK(steps_until_stopped(o, 3) == 12);
}

TEST_CASE("a rank beside the one that saves reads its checkpoints, and neither writes nor removes any", "[loop]") {
  temp_folder folder;
  loop_options o;
  o.report.line = false;
  o.checkpoints = {.folder = folder / "checkpoints", .every = 5, .at_end = at_end::save};
  toy_run first;
  {
    loop l(first, o);
    l.run({{.steps = 10}}, [&](moment const&) -> step_told { return {first.step(0.5f)}; });
    l.finish();
  }
  auto const before = checkpoints_in(folder / "checkpoints");
  REQUIRE(before == 2);

  o.checkpoints.reads_only = true;
  o.checkpoints.at_end = at_end::remove;
  toy_run begins;
  loop fresh(begins, o);  // another's checkpoints are none of its business
  fresh.run({{.steps = 6}}, [&](moment const&) -> step_told { return {begins.step(0.25f)}; });
  fresh.finish();
  CHECK(checkpoints_in(folder / "checkpoints") == before);

  o.resume = true;
  toy_run second;
  loop l(second, o);
  CHECK(l.step() == 10);
  CHECK(second.blocks == first.blocks);
  l.run({{.steps = 20}}, [&](moment const&) -> step_told { return {second.step(0.5f)}; });
  l.finish();
  CHECK(checkpoints_in(folder / "checkpoints") == before);
}
