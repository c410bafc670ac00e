// Results in the order of their jobs, whatever the threads; what throws, throws where its result would have come.
#include <tx/io/work_ahead.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>

using tx::io::work_ahead;

namespace {

// Numbers up to `end`, made into their squares by threads of different speed.
struct squares {
  int drawn = 0, end;
  std::atomic<int> made{0};
  work_ahead<int, long> all;

  squares(int count, tx::io::work_ahead_options const& o, int draw_fails = -1, int make_fails = -1)
      : end(count),
        all(
            [this, draw_fails]() -> std::optional<int> {
              if (drawn == draw_fails) throw std::runtime_error("no job");
              return drawn == end ? std::nullopt : std::optional(drawn++);
            },
            [this, make_fails](int job, long& to) {
              if (job % 7 == 3) std::this_thread::sleep_for(std::chrono::microseconds(300));
              if (job == make_fails) throw std::runtime_error("no result");
              to = long{job} * job;
              ++made;
            },
            o) {}
};

}  // namespace

TEST_CASE("results come in the order of their jobs", "[ahead]") {
  for (std::size_t const threads : {0u, 1u, 2u, 7u})
    for (std::size_t const ahead : {0u, 1u, 3u, 50u}) {
      INFO(threads << " threads, " << ahead << " ahead");
      squares s(100, {.threads = threads, .ahead = ahead});
      CHECK(s.all.threads() == threads);
      for (long k = 0; k < 100; ++k) {
        long const* const result = s.all.next();
        REQUIRE(result != nullptr);
        REQUIRE(*result == k * k);
        REQUIRE(s.all.job() == k);
        REQUIRE(s.made <= k + 1 + static_cast<long>(std::max<std::size_t>(1, ahead)));
      }
      CHECK(s.all.next() == nullptr);
      CHECK(s.all.next() == nullptr);
    }
  squares none(0, {.threads = 3});
  CHECK(none.all.next() == nullptr);
}

TEST_CASE("work is done before it is asked for, and no more than is wanted", "[ahead]") {
  squares s(1000, {.threads = 2, .ahead = 5});
  while (s.made < 5) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(s.made == 5);
  for (long k = 0; k < 3; ++k) CHECK(*s.all.next() == k * k);
  while (s.made < 8) std::this_thread::yield();
}

TEST_CASE("what a thread throws comes where its result would have, again and again", "[ahead]") {
  for (std::size_t const threads : {0u, 1u, 4u}) {
    squares makes(100, {.threads = threads, .ahead = 8}, -1, 20);
    for (long k = 0; k < 20; ++k) REQUIRE(*makes.all.next() == k * k);
    CHECK_THROWS_WITH(makes.all.next(), "no result");
    CHECK_THROWS_WITH(makes.all.next(), "no result");
    squares draws(100, {.threads = threads, .ahead = 8}, 20);
    for (long k = 0; k < 20; ++k) REQUIRE(*draws.all.next() == k * k);
    CHECK_THROWS_WITH(draws.all.next(), "no job");
    CHECK_THROWS_WITH(draws.all.next(), "no job");
  }
}

TEST_CASE("the destructor begins no further job", "[ahead]") {
  std::atomic<int> made{0};
  {
    work_ahead<int, int> endless([] { return std::optional(1); },
                                 [&](int, int&) {
                                   ++made;
                                   std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                 },
                                 {.threads = 2, .ahead = 1'000'000});
    while (made < 4) std::this_thread::yield();
  }
  int const then = made;
  CHECK(then < 1'000'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(made == then);
}

TEST_CASE("a result is memory for one to come", "[ahead]") {
  std::set<int const*> seen;
  work_ahead<int, std::vector<int>> all([k = 0]() mutable { return std::optional(k++); }, [](int job, std::vector<int>& to) { to.assign(100, job); }, {.threads = 2, .ahead = 3});
  for (int k = 0; k < 200; ++k) {
    auto const* const result = all.next();
    REQUIRE(*result == std::vector(100, k));
    seen.insert(result->data());
  }
  CHECK(seen.size() <= 4);
}

TEST_CASE("signals are for the threads of the program", "[ahead]") {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  {
    work_ahead<int, int> one([&, k = 0]() mutable { return k++ == 0 ? std::optional(1) : std::nullopt; }, [&](int, int&) { ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked); });
    CHECK(one.next() != nullptr);
  }
  for (int const other : {SIGINT, SIGTERM}) CHECK(::sigismember(&blocked, other) == 1);
  CHECK(::sigismember(&blocked, SIGSEGV) == 0);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  CHECK(::sigismember(&blocked, SIGTERM) == 0);
}
