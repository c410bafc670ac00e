// Runs a test's body in a thread and gives up when it takes too long: what hangs must fail, not hang the tests.
#pragma once

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>

template <class F>
void within(std::chrono::seconds limit, F const& body) {
  std::packaged_task<void()> task(body);
  std::future<void> done = task.get_future();
  std::thread runner(std::move(task));
  if (done.wait_for(limit) != std::future_status::ready) {
    std::fputs("a rank hangs\n", stderr);  // its thread cannot be ended
    std::abort();
  }
  runner.join();
  done.get();
}
