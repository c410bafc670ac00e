// A helper that others keep from running takes turns with them, and only as long as they are there.
#include <tx/backends/cpu/turns.hpp>

#include <catch2/catch.hpp>

#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <thread>

using namespace tx::backends::cpu;

namespace {

void sleep_for(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// Asleep counts as kept from running, to whoever did not say that it would be.
turns among_neighbours() {
  turns t;
  t.begin();
  for (int k = 0; k < 100 && t.end() == 0; ++k) {
    sleep_for(2);
    t.worked(-1);
  }
  return t;
}

}  // namespace

TEST_CASE("who is never stopped takes no turns") {
  turns t;
  t.begin();
  CHECK(t.end() == 0);
  t.worked(-1);
  CHECK(t.end() == 0);
  for (int k = 0; k < 10; ++k) {  // its own sleep does not count
    sleep_for(2);
    t.begin();
    t.worked(-1);
  }
  CHECK(t.end() == 0);
}

TEST_CASE("who is stopped once does not take turns, who is stopped again and again does") {
  turns t;
  t.begin();
  sleep_for(2);
  t.worked(-1);
  CHECK(t.end() == 0);
  CHECK(among_neighbours().end() != 0);
}

TEST_CASE("a turn is followed by a rest and another turn, until nobody has stopped the helper for a while") {
  turns t = among_neighbours();
  std::int64_t const first = t.end();
  sleep_for(2);
  t.worked(-1);
  CHECK(t.end() > first);
  for (int k = 0; k < 100 && t.end() != 0; ++k) {
    sleep_for(20);
    t.begin();
    t.begin_work();
  }
  CHECK(t.end() == 0);
}

TEST_CASE("the set of processors that a helper may use stays") {
  cpu_set_t before, after;
  REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof before, &before) == 0);
  turns t = among_neighbours();
  t.worked(processor_now());
  REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}
