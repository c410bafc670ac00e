// The threads that kernels run on: every share is done once, whoever calls and however many call at the same time.
#include "helped.hpp"

#include <tx/backends/cpu/processors.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace {

using namespace tx;
using backends::cpu::claims;
using backends::cpu::for_claims;
using backends::cpu::for_shares;

struct counts {
  std::array<std::atomic<int>, tx::backends::cpu::shares> of{};
  bool all(int wanted) const {
    return std::all_of(of.begin(), of.end(), [&](auto const& n) { return n == wanted; });
  }
};

void busy_for(std::int64_t nanoseconds) {
  std::int64_t const until = backends::cpu::nanoseconds_now() + nanoseconds;
  while (backends::cpu::nanoseconds_now() < until) {}
}

}  // namespace

TEST_CASE("every share is done once, by any number of threads, however many are taken at a time") {
  for (int threads : {1, 2, 3, 5, 16, 40})
    for (int together : {1, 3, 16}) {
      counts done;
      for (int i = 0; i < 200; ++i)
        for_claims(threads, much, together, [&](claims& mine) {
          do {
            for (int s = mine.first; s < mine.end; ++s) ++done.of[static_cast<std::size_t>(s)];
          } while (mine.next());
        });
      INFO(threads << " threads, " << together << " at a time");
      CHECK(done.all(200));
    }
}

TEST_CASE("the number of threads may change from call to call") {
  counts done;
  for (int i = 0; i < 600; ++i) for_shares(1 + i * 7 % 9, much, [&](int s) { ++done.of[static_cast<std::size_t>(s)]; });
  CHECK(done.all(600));
}

TEST_CASE("no more threads take part than a call asks for") {
  for (int threads : {2, 3}) {
    std::atomic<int> at_once{0}, most{0};
    for (int i = 0; i < 100; ++i)
      for_claims(threads, much, 1, [&](claims& mine) {
        int const now = ++at_once;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {}
        do {
          busy_for(2000);
        } while (mine.next());
        --at_once;
      });
    CHECK(most <= threads);
  }
}

TEST_CASE("others help while the caller is held up by one share") {
  CHECK(helped());  // also with shares of the caller's own range
}

TEST_CASE("a share may call kernels") {
  counts done;
  for (int i = 0; i < 50; ++i)
    for_shares(3, much, [&](int) { for_shares(2, much, [&](int s) { ++done.of[static_cast<std::size_t>(s)]; }); });
  CHECK(done.all(50 * tx::backends::cpu::shares));
}

TEST_CASE("more callers at the same time than there are places for work") {
  constexpr int callers = 40, calls = 100;
  counts done;
  std::atomic<int> missing{callers};
  std::vector<std::thread> threads;
  for (int t = 0; t < callers; ++t)
    threads.emplace_back([&, t] {
      --missing;
      while (missing > 0) std::this_thread::yield();
      for (int i = 0; i < calls; ++i) for_shares(2 + t % 3, much, [&](int s) { ++done.of[static_cast<std::size_t>(s)]; });
    });
  for (auto& t : threads) t.join();
  CHECK(done.all(callers * calls));
}

TEST_CASE("callers see what helpers wrote, and helpers what callers wrote") {
  std::array<int, tx::backends::cpu::shares> values{};
  int wrong = 0;
  for (int i = 0; i < 20000; ++i) {
    for_shares(3, much, [&](int s) { values[static_cast<std::size_t>(s)] += i + s; });
    int sum = 0;
    for (int& v : values) sum += v, v = 0;
    wrong += sum != i * tx::backends::cpu::shares + tx::backends::cpu::shares * (tx::backends::cpu::shares - 1) / 2;
    if (i % 4000 == 0) busy_for(300'000);  // the helpers go to sleep
  }
  CHECK(wrong == 0);
}

TEST_CASE("an exception of a caller that works alone is its own") {
  CHECK_THROWS_AS(for_shares(1, much, [](int s) { if (s == 3) throw 3; }), int);
  CHECK_THROWS_AS(for_shares(2, 0, [](int s) { if (s == 3) throw 3; }), int);
}

TEST_CASE("the processors that a process may use") {
  using backends::cpu::detail::processors_of_quota;
  CHECK(processors_of_quota("max 100000\n") == 0);
  CHECK(processors_of_quota("200000 100000\n") == 2);
  CHECK(processors_of_quota("150000 100000\n") == 2);
  CHECK(processors_of_quota("10000 100000\n") == 1);
  CHECK(processors_of_quota("") == 0);
  CHECK(processors_of_quota("100000") == 0);
#if defined(__linux__)
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  CHECK(backends::cpu::machine_threads() <= CPU_COUNT(&before));
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  int const on_one = backends::cpu::machine_threads();
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(on_one == 1);
#endif
}
