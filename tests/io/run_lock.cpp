#include <tx/io/run_lock.hpp>

#include <catch2/catch.hpp>

#include <sys/wait.h>

#include <thread>

#include "temp_folder.hpp"

using Catch::Contains;
using tx::io::run_lock;

TEST_CASE("a folder has one run at a time") {
  temp_folder folder;
  {
    run_lock const held(folder.path);
    CHECK(std::filesystem::exists(folder / ".lock"));
    CHECK_THROWS_AS(run_lock(folder.path), tx::io_error);
    CHECK_THROWS_WITH(run_lock(folder.path), Contains(folder.path.string() + ": another run is writing here. FIX"));
    CHECK(std::filesystem::exists(folder / ".lock"));  // of the one that has it
  }
  CHECK(folder.entries() == 0);
  run_lock first(folder.path);
  run_lock const second(std::move(first));  // the lock goes along
  CHECK_THROWS_AS(run_lock(folder.path), tx::io_error);
}

TEST_CASE("a lock's folder has to be one") {
  temp_folder folder;
  CHECK_THROWS_WITH(run_lock(folder / "none"), Contains("none: No such file"));
  tx::io::write_file_atomic(folder / "file", "");
  CHECK_THROWS_WITH(run_lock(folder / "file"), Contains("file: Not a directory"));
  // A link in place of the file leads elsewhere.
  std::filesystem::create_directory(folder / "linked");
  std::filesystem::create_symlink("../file", folder / "linked/.lock");
  CHECK_THROWS_WITH(run_lock(folder / "linked"), Contains("symbolic links"));
}

TEST_CASE("a process that ends lets go of its lock, and its children do not inherit it") {
  temp_folder folder;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  pid_t const child = ::fork();
  if (child == 0) {
    run_lock const held(folder.path);
    [[maybe_unused]] auto const told = ::write(ready[1], "x", 1);
    for (;;) ::pause();
  }
  char x = 0;
  REQUIRE(::read(ready[0], &x, 1) == 1);
  CHECK_THROWS_AS(run_lock(folder.path), tx::io_error);
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(std::filesystem::exists(folder / ".lock"));
  {
    run_lock const held(folder.path);
    // sh has the descriptors that exec leaves open: 0, 1 and 2 and its own.
    std::string const file = (folder / ".lock").string();
    CHECK(std::system(("for fd in /proc/self/fd/*; do test \"$(readlink $fd)\" != " + file + " || exit 1; done").c_str()) == 0);
  }
  CHECK(folder.entries() == 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("a folder that is renamed stays held, and the new one of its name is free") {
  temp_folder folder;
  std::filesystem::create_directory(folder / "a");
  {
    run_lock const old(folder / "a");
    std::filesystem::rename(folder / "a", folder / "b");
    CHECK_THROWS_AS(run_lock(folder / "b"), tx::io_error);
    std::filesystem::create_directory(folder / "a");
    run_lock const fresh(folder / "a");
    CHECK_THROWS_AS(run_lock(folder / "a"), tx::io_error);
  }
  CHECK(std::filesystem::is_empty(folder / "a"));
  CHECK(std::filesystem::is_empty(folder / "b"));
}

TEST_CASE("threads that take and leave a lock never hold it together") {
  temp_folder folder;
  std::atomic<int> inside{0}, most{0}, taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        try {
          run_lock const held(folder.path);
          most = std::max(most.load(), ++inside);
          ++taken;
          std::this_thread::yield();
          --inside;
        } catch (tx::io_error const&) {
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(most == 1);
  CHECK(taken > 0);
  CHECK(folder.entries() == 0);
}

TEST_CASE("locks of the folders below") {
  temp_folder folder;
  for (char const* const name : {"a/b", "c", "d"}) std::filesystem::create_directories(folder / name);
  tx::io::write_file_atomic(folder / "d/.lock", "");  // of a process that was killed
  std::filesystem::create_directory_symlink(folder / "a", folder / "c/link");
  run_lock const own(folder.path);
  {
    auto const none = tx::io::locks_below(folder.path);
    CHECK(none.size() == 1);
    CHECK_THROWS_WITH(run_lock(folder / "d"), Contains("another run"));
  }
  CHECK(std::filesystem::is_empty(folder / "d"));
  run_lock const deep(folder / "a/b");
  CHECK_THROWS_WITH(tx::io::locks_below(folder.path), Contains("a/b: another run"));
  CHECK(tx::io::locks_below(folder / "c").empty());  // what a link leads to stays where it is
}
