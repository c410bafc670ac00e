// A function in a process of its own, which may be killed.
#pragma once

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

// Runs f, then _exit(0), in a process of its own; how it ended: the signal, or 0. `meanwhile` runs in this one.
template <class F, class Meanwhile>
int signal_of(F f, Meanwhile meanwhile) {
  pid_t const child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (int const s : {SIGINT, SIGTERM}) std::signal(s, SIG_DFL);  // not the test framework's
    try {
      f();
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  meanwhile(child);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}
