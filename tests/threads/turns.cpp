// A helper that others keep from running takes turns with them, and only as long as they are there.
#include <tx/backends/cpu/turns.hpp>

#include <catch2/catch.hpp>

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

using namespace tx::backends::cpu;

namespace {

void sleep_for(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }
void work_for(int milliseconds) {
  auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < until) {}
}

// A thread that spins on this one's processor, which both may not leave.
class neighbour {
 public:
  neighbour() {
    pthread_getaffinity_np(pthread_self(), sizeof before_, &before_);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    pthread_setaffinity_np(pthread_self(), sizeof here, &here);  // the other thread inherits it
    spins_ = std::thread([this] {
      while (!ends_) {}
    });
  }
  ~neighbour() {
    ends_ = true;
    spins_.join();
    pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
  }
  neighbour(neighbour const&) = delete;
  neighbour& operator=(neighbour const&) = delete;

 private:
  cpu_set_t before_;
  std::atomic<bool> ends_{false};
  std::thread spins_;
};

turns among_neighbours() {
  turns t;
  t.begin();
  for (int k = 0; k < 2000 && t.end() == 0; ++k) {
    work_for(2);
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

// Who sleeps was not stopped by the system, whoever else has the processor then; nor is who the host of a virtual machine stops.
TEST_CASE("a stop without another thread on the processor does not count") {
  turns t;
  t.begin();
  for (int k = 0; k < 10; ++k) {
    sleep_for(2);
    t.worked(-1);
  }
  CHECK(t.end() == 0);
}

TEST_CASE("a turn is followed by a rest and another turn, until nobody has stopped the helper for a while") {
  turns t;
  std::int64_t first = 0;
  {
    neighbour const other;
    for (int k = 0; k < 50 && t.end() <= first; ++k) {  // where the machine is busy, one is forgotten before the next
      t = among_neighbours();
      first = t.end();
      REQUIRE(first != 0);
      work_for(2);
      t.worked(-1);
    }
  }
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
  turns t;
  {
    neighbour const other;
    t = among_neighbours();
  }
  REQUIRE(t.end() != 0);
  t.worked(processor_now());  // it leaves this one
  REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}
