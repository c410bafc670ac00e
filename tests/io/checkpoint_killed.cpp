// A process that is killed while it saves leaves the state it saved last or the one it was saving.
#include <tx/io/checkpoint.hpp>

#include <catch2/catch.hpp>

#include <sys/wait.h>

#include <chrono>
#include <csignal>

#include "small_run.hpp"
#include "temp_folder.hpp"

namespace {

using run = small_run<double>;

// Saves step after step, and tells each that is complete.
[[noreturn]] void save_forever(std::filesystem::path const& folder, std::int64_t step, int told) {
  try {
    for (run r;; ++step) {
      r.go_to(step);
      tx::io::save_checkpoint(folder, r, {{"place", step}});
      if (::write(told, &step, sizeof step) != sizeof step) ::_exit(2);
    }
  } catch (...) {
    ::_exit(1);
  }
}

// The last step that a process told before it ended.
std::int64_t last_told(int pipe, std::int64_t before) {
  std::int64_t step = before;
  while (::read(pipe, &step, sizeof step) == sizeof step) {
  }
  return step;
}

}  // namespace

TEST_CASE("a process killed at any moment of a save leaves a complete checkpoint", "[checkpoint]") {
  temp_folder folder;
  run saved;
  saved.go_to(1);
  auto const begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 2; ++i) tx::io::save_checkpoint(folder.path, saved, {{"place", 1}});
  auto const two_saves =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
  std::int64_t step = 1;
  int in_between = 0;
  std::uint64_t random = 1;
  for (int kill = 0; kill < 60; ++kill) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) save_forever(folder.path, step + 1, ends[1]);
    ::close(ends[1]);
    random = random * 6364136223846793005u + 1442695040888963407u;
    ::usleep(static_cast<useconds_t>((random >> 33) % static_cast<std::uint64_t>(two_saves + 2000)));
    REQUIRE(::kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    std::int64_t const told = last_told(ends[0], step);
    ::close(ends[0]);

    run r;
    auto const from = tx::io::load_checkpoint(folder.path, r);
    INFO("after kill " << kill << ": told " << told << ", found " << from.step);
    REQUIRE((from.step == told || from.step == told + 1));
    REQUIRE(from.skipped.empty());  // nothing half-written bears a checkpoint's name
    run wanted;
    wanted.go_to(from.step);
    REQUIRE(r == wanted);
    REQUIRE(tx::io::value_of<std::int64_t>(from.position, "place") == from.step);
    if (std::filesystem::exists(folder / ".saving")) ++in_between;
    step = from.step;
  }
  CHECK(step > 1);
  CHECK(in_between > 10);  // kills did hit saves
  saved.go_to(step + 1);
  tx::io::save_checkpoint(folder.path, saved);
  CHECK(folder.entries() == 2);  // what killed saves left is gone
}
