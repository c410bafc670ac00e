// Processes that train and save in the background, killed at any moment: those that go on from them end in the bits of one that was left alone.
#include "../io/forked.hpp"
#include "../io/system_calls.hpp"
#include "loop_run.hpp"

#include <catch2/catch.hpp>


#include <chrono>
#include <csignal>

using namespace tx::train;

namespace {

constexpr std::int64_t steps = 100;

// With tensors that take a while to copy and to write: a state that changed meanwhile would not pass for one of a step.
struct wide_run : toy_run {
  wide_run() {
    for (auto& block : blocks) block.assign(60'001, 0.0f);
  }
  std::vector<named_tensor<float>> tensors(int k) {
    std::span<float> const all(blocks[static_cast<std::size_t>(k)]);
    return {{"hidden.weight", {200, 300}, all.first(60'000)}, {"hidden.scale", {}, all.last(1)}};
  }
};

// Goes on with the run in a folder, or begins it, to its end.
wide_run train(std::filesystem::path const& folder) {
  wide_run run;
  auto const column = numbers(50);
  shuffled_rows data({.rows = 50, .batch = 4, .seed = 3}, column);
  loop l(run, data,
         {.folder = folder,
          .resume = true,
          .or_begin = true,
          .checkpoints = {.every = 5, .best = true},
          .report = {.every = 1, .line = false},
          .validate = [&] { return std::abs(static_cast<double>(run.blocks[0][1]) - 0.4); }});
  l.run({{.steps = steps}, {.steps = 9}}, [&](moment const&) -> step_told { return {run.step(std::get<0>(data.next())[0])}; });
  l.finish();
  return run;
}

// What the run has told of itself, without what depends on the clock.
std::vector<std::string> told(std::filesystem::path const& folder) {
  std::vector<std::string> all;
  for (auto line : lines_of(folder / "metrics.jsonl")) {
    line.erase("seconds");
    all.push_back(line.dump());
  }
  return all;
}

// `meanwhile` may kill the process that f runs in. Whether it was killed.
template <class F, class Meanwhile>
bool killed(F f, Meanwhile meanwhile) {
  int const signal = signal_of(f, meanwhile);
  REQUIRE((signal == 0 || signal == SIGKILL));
  return signal != 0;
}

struct kill_test {
  temp_folder folder{};
  std::chrono::duration<double> whole_takes{};
  wide_run whole = [this] {
    auto const start = std::chrono::steady_clock::now();
    auto run = train(folder / "whole");
    whole_takes = std::chrono::steady_clock::now() - start;
    return run;
  }();
  std::uint64_t random = 1;

  std::size_t draw(std::size_t below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % below;
  }
  // Run after run until `wanted` processes have been killed; kill_one(path) runs one, and says whether it was.
  template <class KillOne>
  void operator()(int wanted, KillOne kill_one) {
    int kills = 0, with_states = 0;
    for (int run = 0; kills < wanted; ++run) {
      auto const path = folder.path / std::to_string(run);
      while (kill_one(path)) {
        ++kills;
        with_states += tx::io::has_checkpoint(path / "checkpoints");
        INFO("after kill " << kills);
        // What bears a checkpoint's name is complete.
        wide_run saved;
        if (tx::io::has_checkpoint(path / "checkpoints")) REQUIRE(tx::io::load_checkpoint(path / "checkpoints", saved).skipped.empty());
        if (kills % 7 == 0) break;  // the rest of this run in one piece
      }
      REQUIRE(train(path) == whole);
      REQUIRE(told(path) == told(folder / "whole"));
      REQUIRE(tx::io::detail::checkpoint_numbers(path / "checkpoints").front() == steps);
      std::filesystem::remove_all(path);
    }
    CHECK(with_states > 0);
  }

  void at_random_times(int wanted) {
    (*this)(wanted, [&](std::filesystem::path const& path) {
      return killed([&] { train(path); },
                    [&](pid_t child) {
                      auto const most = std::chrono::duration_cast<std::chrono::microseconds>(whole_takes).count();
                      ::usleep(static_cast<useconds_t>(draw(static_cast<std::size_t>(most))));
                      ::kill(child, SIGKILL);
                    });
    });
  }
  // By the thread that saves, before or after any call that brings a checkpoint to the disk.
  void at_random_calls(int wanted) {
    (*this)(wanted, [&](std::filesystem::path const& path) {
      auto const at = static_cast<int>(draw(350));
      return killed(
          [&] {
            int event = 0;
            watched_calls const watch([&](std::string const&, bool) {
              if (event++ == at) ::kill(::getpid(), SIGKILL);
              return 0;
            });
            train(path);
          },
          [](pid_t) {});
    });
  }
};

}  // namespace

TEST_CASE("a process that saves in the background and is killed goes on bit by bit", "[loop]") {
  kill_test kill;
  kill.at_random_times(3);
  kill.at_random_calls(3);
}

TEST_CASE("processes that save in the background and are killed time after time go on bit by bit", "[.slow]") {
  kill_test kill;
  kill.at_random_times(60);
  kill.at_random_calls(60);
}
