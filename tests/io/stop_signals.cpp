#include <tx/io/stop_signals.hpp>

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

namespace {

volatile std::sig_atomic_t handled = 0;
void count(int) { handled = handled + 1; }

// How a process ends that runs f: its exit code, or 128 + the signal.
template <class F>
int outcome_of(F f) {
  pid_t const child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (int const signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);  // not the test framework's
    f();
    ::_exit(7);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("the first signal is noted, the second ends the process") {
  for (int const signal : {SIGINT, SIGTERM}) {
    CHECK(outcome_of([&] {
            tx::io::stop_signals const stop;
            if (stop.received() != 0) ::_exit(1);
            ::raise(signal);
            if (stop.received() != signal) ::_exit(2);
          }) == 7);
    CHECK(outcome_of([&] {
            tx::io::stop_signals const stop;
            ::raise(signal);
            ::raise(signal);
          }) == 128 + signal);
    CHECK(outcome_of([&] {
            { tx::io::stop_signals const stop; }
            ::raise(signal);
          }) == 128 + signal);
  }
}

TEST_CASE("handlers come back, and what was ignored stays ignored") {
  auto const before = std::signal(SIGTERM, count);
  auto const ignored = std::signal(SIGINT, SIG_IGN);
  handled = 0;
  {
    tx::io::stop_signals const stop;
    ::raise(SIGINT);
    CHECK(stop.received() == 0);
    ::raise(SIGTERM);
    CHECK(stop.received() == SIGTERM);
    CHECK(handled == 0);
  }
  ::raise(SIGTERM);
  CHECK(handled == 1);
  { CHECK(tx::io::stop_signals().received() == 0); }  // each begins anew
  std::signal(SIGTERM, before);
  std::signal(SIGINT, ignored);
}
