// A process that is killed while it saves leaves the state it saved last or the one it was saving. Where it is killed
// is counted in calls and bytes, so that it is the same on a disk of any speed.
#include <tx/io/checkpoint.hpp>

#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "forked.hpp"
#include "small_run.hpp"
#include "system_calls.hpp"
#include "temp_folder.hpp"

namespace {

using run = small_run<double>;

void save(std::filesystem::path const& folder, std::int64_t step) {
  run r;
  r.go_to(step);
  tx::io::save_checkpoint(folder, r, {{"place", step}});
}

constexpr auto undisturbed = [](pid_t) {};

// The folder's newest checkpoint is that of a step, or of one of those that follow; which.
std::int64_t check_complete(std::filesystem::path const& folder, std::int64_t first, std::int64_t last) {
  run r, wanted;
  auto const from = tx::io::load_checkpoint(folder, r);
  REQUIRE(from.step >= first);
  REQUIRE(from.step <= last);
  REQUIRE(from.skipped.empty());  // nothing half-written bears a checkpoint's name
  wanted.go_to(from.step);
  REQUIRE(r == wanted);
  REQUIRE(tx::io::value_of<std::int64_t>(from.position, "place") == from.step);
  return from.step;
}

}  // namespace

TEST_CASE("a process killed before or after any call of a save leaves a complete checkpoint", "[checkpoint]") {
  temp_folder folder;
  std::int64_t step = 1;
  for (int k = 0; k < 2; ++k) save(folder.path, step);
  int left = 0, named = 0;
  for (int k = 0;; ++k) {
    INFO("killed at event " << k);
    int const signal = signal_of(
        [&] {
          int event = 0;
          watched_calls const watch([&](std::string const&, bool) {
            if (event++ == k) ::raise(SIGKILL);
            return 0;
          });
          save(folder.path, step + 1);
        },
        undisturbed);
    if (std::filesystem::exists(folder / ".saving")) ++left;
    std::int64_t const found = check_complete(folder.path, step, step + 1);
    named += signal != 0 && found > step;
    step = found;
    if (signal == 0) {
      CHECK(k >=
            30);  // two for each of fifteen calls: twelve for files, naming, syncing, and taking the name of a third
      break;
    }
    REQUIRE(signal == SIGKILL);
  }
  CHECK(left >= 24);
  CHECK(named >= 3);             // after its name was given: the rename, then what the folder is synced by
  CHECK(folder.entries() == 2);  // what killed saves left is gone
}

TEST_CASE("a process killed in the middle of a file leaves a complete checkpoint", "[checkpoint]") {
  temp_folder folder;
  save(folder.path, 1);
  rlim_t limit = 0;
  for (int signal = SIGXFSZ; signal != 0; limit += 40) {
    REQUIRE(limit < 10'000);
    INFO("killed after " << limit << " bytes of a file");
    signal = signal_of(
        [&] {
          std::signal(SIGXFSZ, SIG_DFL);
          rlimit const none{0, 0}, bytes{limit, limit};
          ::setrlimit(RLIMIT_CORE, &none);
          ::setrlimit(RLIMIT_FSIZE, &bytes);
          save(folder.path, 2);
        },
        undisturbed);
    REQUIRE((signal == 0 || signal == SIGXFSZ));
    check_complete(folder.path, signal == 0 ? 2 : 1, signal == 0 ? 2 : 1);
  }
  CHECK(limit > 400);
}

TEST_CASE("a process killed at any time leaves a complete checkpoint", "[checkpoint]") {
  temp_folder folder;
  std::int64_t step = 1;
  save(folder.path, step);
  std::uint64_t random = 1;
  for (int kill = 0; kill < 30; ++kill) {
    int ends[2];  // through which the process tells each step that is complete
    REQUIRE(::pipe(ends) == 0);
    int const signal = signal_of(
        [&] {
          for (std::int64_t next = step + 1;; ++next) {
            save(folder.path, next);
            if (::write(ends[1], &next, sizeof next) != sizeof next) ::_exit(2);
          }
        },
        [&](pid_t child) {
          random = random * 6364136223846793005u + 1442695040888963407u;
          ::usleep(static_cast<useconds_t>((random >> 33) % 10'000));
          ::kill(child, SIGKILL);
        });
    REQUIRE(signal == SIGKILL);
    ::close(ends[1]);
    std::int64_t told = step;
    while (::read(ends[0], &told, sizeof told) == sizeof told) {
    }
    ::close(ends[0]);
    INFO("after kill " << kill << ": told " << told);
    step = check_complete(folder.path, told, told + 1);
  }
}
