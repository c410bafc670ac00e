#include "within.hpp"

#include <tx/dist/local.hpp>
#include <tx/dist/single.hpp>

#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using tx::dist::local;
using tx::dist::local_group;

namespace {

using values = std::vector<float>;

// Element i of rank r: sums of these depend on the order of the additions.
float element(int r, std::size_t i) {
  return std::sin(static_cast<float>(i + 1) * 0.37f) *
         std::pow(10.0f, static_cast<float>((r * 5 + static_cast<int>(i)) % 7));
}
values part(int r, std::size_t count) {
  values v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = element(r, i);
  return v;
}

// Neighbours are added until one is left.
float tree(std::vector<float> v) {
  while (v.size() > 1) {
    std::vector<float> next;
    for (std::size_t k = 0; k < v.size(); k += 2) next.push_back(k + 1 < v.size() ? v[k] + v[k + 1] : v[k]);
    v = next;
  }
  return v[0];
}

template <class T>
void all_reduce(local& rank, std::vector<T> const& from, std::vector<T>& to) {
  rank.all_reduce(std::span<T const>(from), std::span<T>(to));
}

template <class F>
std::string message_of(F const& f) {
  try {
    f();
  } catch (std::exception const& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("all ranks get the sum, added as a tree") {
  int const ranks = GENERATE(1, 2, 3, 4, 5, 8);
  std::size_t const count = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{2000});
  bool const in_place = GENERATE(false, true);
  std::vector<values> got(static_cast<std::size_t>(ranks));
  within(20s, [&] {
    local_group group(ranks);
    group.run([&](local& rank) {
      values const from = part(rank.rank(), count);
      values to = in_place ? from : values(count);
      for (int again = 0; again < 3; ++again) {
        if (in_place) to = from;
        all_reduce(rank, in_place ? to : from, to);
      }
      got[static_cast<std::size_t>(rank.rank())] = to;
    });
  });
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<float> all;
    for (int r = 0; r < ranks; ++r) all.push_back(element(r, i));
    for (auto const& v : got) REQUIRE(v[i] == tree(all));
  }
}

TEST_CASE("nobody passes a barrier before all are there") {
  int const ranks = GENERATE(2, 5);
  std::atomic<int> come{0};
  std::atomic<bool> early{false};
  within(20s, [&] {
    local_group group(ranks);
    group.run([&](local& rank) {
      for (int round = 1; round <= 200; ++round) {
        ++come;
        rank.barrier();
        if (come < round * ranks) early = true;
        rank.barrier();
      }
    });
  });
  CHECK(!early);
}

TEST_CASE("a rank that fails ends the others' waiting") {
  int const ranks = GENERATE(2, 3, 5);
  int const bad = GENERATE(0, 1);
  std::atomic<int> told{0};
  std::string thrown;
  local_group group(ranks);
  auto run = [&] {
    group.run([&](local& rank) {
      values v(10, 1.0f);
      for (int step = 0; step < 5; ++step) {
        if (step == 3 && rank.rank() == bad) throw std::runtime_error("disk full");
        try {
          all_reduce(rank, v, v);
        } catch (tx::dist::rank_error const& e) {
          if (e.what() == "rank " + std::to_string(bad) + " failed: disk full") ++told;
          throw;
        }
      }
    });
  };
  within(20s, [&] { thrown = message_of(run); });
  CHECK(thrown == "disk full");
  CHECK(told == ranks - 1);

  SECTION("the group can run again") {
    std::atomic<int> good{0};
    within(20s, [&] {
      group.run([&](local& rank) {
        rank.barrier();
        ++good;
      });
    });
    CHECK(good == ranks);
  }
}

TEST_CASE("a rank that returns early, or is told to stop from outside, is no hang either") {
  std::string thrown;
  local_group group(3);
  within(20s, [&] {
    thrown = message_of([&] {
      group.run([&](local& rank) {
        if (rank.rank() != 1) rank.barrier();
      });
    });
  });
  CHECK(thrown == "rank 1 has ended and meets the others no more");

  std::thread watchdog;
  within(20s, [&] {
    thrown = message_of([&] {
      group.run([&](local& rank) {
        if (rank.rank() == 2) watchdog = std::thread([&] { group.fail("time is up"); });
        if (rank.rank() == 2) watchdog.join();
        if (rank.rank() != 2) rank.barrier();
      });
    });
  });
  CHECK(thrown == "time is up");
}

TEST_CASE("ranks that bring different things are all told") {
  std::atomic<int> told{0};
  within(20s, [&] {
    local_group group(3);
    group.run([&](local& rank) {
      values v(rank.rank() == 1 ? 5 : 4, 1.0f);
      try {
        all_reduce(rank, v, v);
      } catch (tx::dist::rank_error const&) {
        ++told;
      }
      // What is handed out is as long on all, what it is made of is not.
      values some(rank.rank() == 1 ? 3 : 2), six(6);
      for (bool const gathers : {true, false}) {
        try {
          if (gathers) rank.all_gather(std::span<float const>(some), std::span(six));
          else rank.reduce_scatter(std::span<float const>(six), std::span(some));
        } catch (tx::dist::rank_error const&) {
          ++told;
        }
      }
      std::vector<double> w(2, 1.0);  // and can go on
      all_reduce(rank, w, w);
      if (w[0] != 3.0) told = -1;
    });
  });
  CHECK(told == 9);
  CHECK_THROWS_AS(local_group(0), tx::value_error);
}

TEST_CASE("one rank alone") {
  values const from{1, 2, 3};
  values to(3);
  tx::dist::single::all_reduce(std::span<float const>(from), std::span<float>(to));
  CHECK(to == from);
  CHECK(tx::dist::single::size() == 1);
}
