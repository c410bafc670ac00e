#include <tx/io/background_work.hpp>

#include <catch2/catch.hpp>

#include <sys/wait.h>

#include <chrono>
#include <stdexcept>
#include <memory>
#include <thread>

#include "temp_folder.hpp"

#include <tx/io/files.hpp>

using tx::io::background_work;

namespace {

std::string reason_of(std::exception_ptr const& error) {
  if (!error) return "";
  try {
    std::rethrow_exception(error);
  } catch (std::exception const& e) {
    return e.what();
  }
}

// What f leaves on standard error.
template <class F>
std::string told_by(F f) {
  temp_folder folder;
  std::fflush(stderr);
  int const before = ::dup(2);
  {
    tx::io::file_handle const to(folder / "told", O_WRONLY | O_CREAT, "write");
    ::dup2(to.get(), 2);
  }
  f();
  std::fflush(stderr);
  ::dup2(before, 2);
  ::close(before);
  return tx::io::read_text(folder / "told");
}

void fail() { throw std::runtime_error("the disk is full"); }

}  // namespace

TEST_CASE("work runs beside the one that asks for it, and end() waits") {
  background_work work("a test");
  CHECK_FALSE(work.end());
  std::atomic<bool> go{false};
  std::thread::id id;
  for (int i = 0; i < 3; ++i) {
    go = false;
    int done = 0;
    work.start([&] {
      while (!go) std::this_thread::yield();
      id = std::this_thread::get_id();
      ++done;
    });
    go = true;  // it would not come to this if start() did the work
    CHECK_FALSE(work.end());
    CHECK(done == 1);
    CHECK(id != std::this_thread::get_id());
  }
}

TEST_CASE("what work throws is told once") {
  background_work work("a test");
  work.start(fail);
  while (!work.failed()) std::this_thread::yield();
  CHECK(reason_of(work.end()) == "the disk is full");
  CHECK_FALSE(work.failed());
  CHECK_FALSE(work.end());
  work.start([] {});
  CHECK_FALSE(work.end());
}

TEST_CASE("a destructor waits, and tells of what nobody has asked for") {
  bool done = false;
  CHECK(told_by([&] {
          background_work work("a test");
          work.start([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            done = true;
          });
        }) == "");
  CHECK(done);
  CHECK(told_by([] {
          background_work work("saving");
          work.start(fail);
        }) == "saving failed: the disk is full\n");
  CHECK(told_by([] {
          background_work work("saving");
          work.start([] { throw 1; });
        }) == "saving failed: an exception of an unknown kind\n");
  CHECK(told_by([] {
          background_work work("saving");
          work.start(fail);
          static_cast<void>(work.end());
        }) == "");
}

TEST_CASE("signals are for the threads of the program, faults for the thread that raises them") {
  background_work work("a test");
  sigset_t blocked;
  ::sigemptyset(&blocked);
  work.start([&] { ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked); });
  work.end();
  for (int const other : {SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGXFSZ}) CHECK(::sigismember(&blocked, other) == 1);
  for (int const fault : {SIGSEGV, SIGBUS, SIGFPE}) CHECK(::sigismember(&blocked, fault) == 0);
  sigset_t own;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &own);
  CHECK(::sigismember(&own, SIGTERM) == 0);
}

TEST_CASE("a process that is forked meanwhile neither waits for the work nor tells of it") {
  temp_folder folder;
  std::string const told = told_by([&] {
    auto work = std::make_unique<background_work>("saving");
    std::atomic<bool> go{false};
    work->start([&] {
      while (!go) std::this_thread::yield();
      fail();
    });
    pid_t const child = ::fork();
    if (child == 0) {
      bool const quiet = !work->failed() && !work->end();
      work.reset();
      ::_exit(quiet ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    go = true;
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    CHECK(reason_of(work->end()) == "the disk is full");
  });
  CHECK(told == "");
}
