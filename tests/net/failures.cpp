// Ranks that fail, leave, are killed, are stopped or do something else: the others get an error that names them, in a stated time.
#include "group.hpp"

#include <tx/core/error.hpp>
#include <tx/dist/net/same_on_all.hpp>

#include <sys/wait.h>

#include <array>
#include <csignal>

using namespace std::chrono_literals;

namespace {

// A rank in a process of its own, which meets the others at barriers until it is ended.
pid_t rank_process(int rank, int size, int port) {
  pid_t const child = ::fork();
  if (child != 0) return child;
  try {
    tx::dist::sockets connections(net::place_of(rank, size, port), {.patience = 2s});
    net::all all(connections);
    std::vector<float> x(100'000);
    for (;;) all.all_reduce(std::span<float const>(x), std::span(x));
  } catch (...) {
    ::_exit(1);
  }
}

struct ended_by_error {
  std::string what;
  double seconds;
};
// Rank 0 of three, the others processes, of which rank 2 gets a signal in the midst.
ended_by_error beside(int signal) {
  int const port = net::free_port();
  pid_t const others[] = {rank_process(1, 3, port), rank_process(2, 3, port)};
  ended_by_error out{};
  within(30s, [&] {
    tx::dist::detail::clock::time_point sent{};
    try {
      tx::dist::sockets connections(net::place_of(0, 3, port), {.patience = 2s});
      net::all all(connections);
      std::vector<float> x(100'000);
      for (int k = 0;; ++k) {
        if (k == 20) {
          ::kill(others[1], signal);
          sent = tx::dist::detail::clock::now();
        }
        all.all_reduce(std::span<float const>(x), std::span(x));
      }
    } catch (tx::dist::rank_error const& e) {
      out = {e.what(), std::chrono::duration<double>(tx::dist::detail::clock::now() - sent).count()};
    }
  });
  int status = 0;
  ::waitpid(others[0], &status, 0);
  CHECK(WIFEXITED(status));  // by an error of its own, not by a signal
  CHECK(WEXITSTATUS(status) == 1);
  ::kill(others[1], SIGKILL);
  ::waitpid(others[1], &status, 0);
  return out;
}

}  // namespace

TEST_CASE("a rank that is killed ends the others at once") {
  auto const e = beside(SIGKILL);
  CHECK_THAT(e.what, Catch::Contains("rank 2 has ended, or was killed"));
  CHECK(e.seconds < 2);
}

TEST_CASE("a rank that is stopped ends the others when their patience does") {
  auto const e = beside(SIGSTOP);
  CHECK_THAT(e.what, Catch::Contains("rank 2 has said nothing for 2 s"));
  CHECK(e.seconds < 6);
}

TEST_CASE("a rank that computes for longer than the patience is waited for") {
  auto const errors = net::errors_of(
      2,
      [](net::all& all) {
        if (all.rank() == 1) std::this_thread::sleep_for(1s);
        all.barrier();
      },
      {.patience = 300ms});
  CHECK(errors == std::vector<std::string>(2));
}

TEST_CASE("a rank that throws tells the others") {
  auto const errors = net::errors_of(3, [](net::all& all) {
    if (all.rank() == 1) throw tx::value_error("no more");
    all.barrier();
  });
  CHECK(errors[1] == "no more");
  for (std::size_t const r : {0u, 2u}) CHECK(errors[r] == "rank 1 failed");
}

TEST_CASE("ranks that go in order while an exception takes them have not failed") {
  auto const errors = net::errors_of(4, [](net::all& all) {
    if (all.rank() > 1) std::this_thread::sleep_for(100ms);
    float x = 1;
    all.broadcast(std::span(&x, 1), 0);
    all.barrier();
    all.over().leave();
    throw tx::value_error("stopped");
  });
  CHECK(errors == std::vector<std::string>(4, "stopped"));
}

TEST_CASE("what was there before another rank failed is there") {
  auto const errors = net::errors_of(3, [](net::all& all) {
    float x = static_cast<float>(all.rank());
    if (all.rank() == 0) all.send(std::span<float const>(&x, 1), 1);
    if (all.rank() == 2) {
      std::this_thread::sleep_for(300ms);
      throw tx::value_error("no more");
    }
    if (all.rank() != 1) return all.barrier();
    all.receive(std::span(&x, 1), 0);
    CHECK(x == 0);
    std::this_thread::sleep_for(600ms);
    CHECK_THROWS_WITH(all.barrier(), "rank 2 failed");
  });
  CHECK(errors == std::vector<std::string>{"rank 2 failed", "", "no more"});
}

TEST_CASE("a rank that is killed amid large messages is the one that is named") {
  for (int again = 0; again < 8; ++again) {
    int const port = net::free_port();
    pid_t const killed = rank_process(2, 4, port);
    std::vector<std::string> errors(4);
    within(30s, [&] {
      std::vector<std::thread> threads;
      for (int r : {0, 1, 3})
        threads.emplace_back([&, r] {
          try {
            tx::dist::sockets connections(net::place_of(r, 4, port), {.patience = 2s});
            net::all all(connections);
            std::vector<float> x(100'000);
            for (int k = 0;; ++k) {
              if (r == 0 && k == 10) ::kill(killed, SIGKILL);
              all.all_reduce(std::span<float const>(x), std::span(x));
            }
          } catch (tx::dist::rank_error const& e) {
            errors[static_cast<std::size_t>(r)] = e.what();
          }
        });
      for (auto& t : threads) t.join();
    });
    int status = 0;
    ::waitpid(killed, &status, 0);
    for (std::size_t const r : {0u, 1u, 3u}) CHECK_THAT(errors[r], Catch::Contains("rank 2 has ended, or was killed"));
  }
}

TEST_CASE("a rank that gives its reason tells that") {
  auto const errors = net::errors_of(3, [](net::all& all) {
    if (all.rank() == 2) all.over().fail("has a full disk");
    all.barrier();
  });
  for (auto const& e : errors) CHECK(e == "rank 2 has a full disk");
}

TEST_CASE("a rank that ends while others wait for it") {
  auto const errors = net::errors_of(3, [](net::all& all) {
    if (all.rank() != 1) all.barrier();
  });
  CHECK(errors[1] == "");
  for (std::size_t const r : {0u, 2u}) CHECK(errors[r] == "rank 1 has ended and meets the others no more");
}

TEST_CASE("what the last message of a rank brings is there when it has left") {
  for (int again = 0; again < 5; ++again) {
    std::size_t const count = again < 3 ? 4'000'000 : 400;  // more than connections hold, and less
    auto const errors = net::errors_of(2, [&](net::all& all) {
      std::vector<float> x(count, 1.0f);
      if (all.rank() == 1) {
        std::this_thread::sleep_for(again < 3 ? 100ms : 1500ms);  // longer than its own signs of life take to come back
        all.receive(std::span(x), 0);
        if (x.front() != 2 || x.back() != 2) throw tx::value_error("other numbers");
      } else {
        for (auto& v : x) v = 2;
        all.send(std::span<float const>(x), 1);
      }
    }, {.patience = 1s});
    CHECK(errors == std::vector<std::string>(2));
  }
}

TEST_CASE("ranks that ask for different things") {
  auto const other_call = net::errors_of(2, [](net::all& all) {
    std::vector<float> x(10);
    if (all.rank() == 0) all.barrier();
    else all.all_reduce(std::span<float const>(x), std::span(x));
  });
  CHECK_THAT(other_call[0] + other_call[1], Catch::Contains("where this rank waits for") && Catch::Contains("barrier number 1 of 1 bytes") && Catch::Contains("all_reduce number 1 of 40 bytes") &&
                                                Catch::Contains("FIX: run one program on all"));
  auto const other_length = net::errors_of(2, [](net::all& all) {
    std::vector<float> x(all.rank() == 0 ? 10 : 11);
    all.all_reduce(std::span<float const>(x), std::span(x));
  });
  CHECK_THAT(other_length[0] + other_length[1], Catch::Contains("all_reduce number 1 of 44 bytes") && Catch::Contains("all_reduce number 1 of 40 bytes"));
  for (auto const& e : {other_call, other_length})
    for (auto const& each : e) CHECK(each != "");
}

TEST_CASE("after an error every call is that error, and memory is left alone") {
  auto const errors = net::errors_of(2, [](net::all& all) {
    if (all.rank() == 1) throw tx::value_error("no more");
    for (int k = 0; k < 3; ++k) {
      std::vector<float> x(100'000);
      CHECK_THROWS_WITH(all.all_reduce(std::span<float const>(x), std::span(x)), "rank 1 failed");
    }
  });
  CHECK(errors[0] == "");
}

TEST_CASE("a rank that has something else than the first is named") {
  auto const errors = net::errors_of(3, [](net::all& all) {
    tx::dist::check_same(all, 7, "parameters");
    tx::dist::check_same(all, all.rank() == 2 ? 8 : 7, "parameters after step 4");
    all.barrier();
  });
  CHECK_THAT(errors[2], Catch::Contains("rank 2 has other parameters after step 4 than rank 0"));
  for (int r : {0, 1}) CHECK(errors[static_cast<std::size_t>(r)] != "");
  std::array<float, 5> some{1, 2, 3, 4, 5};
  auto const bytes = std::as_bytes(std::span(some));
  CHECK(tx::sum_of_bytes(bytes) == tx::sum_of_bytes(bytes.subspan(8), tx::sum_of_bytes(bytes.first(8))));
  auto const before = tx::sum_of_bytes(bytes);
  some[4] = 6;
  CHECK(tx::sum_of_bytes(bytes) != before);
}

TEST_CASE("lengths that do not fit are told before anything is sent") {
  net::run(2, [](net::all& all) {
    std::vector<float> two(2), three(3), five(5);
    CHECK_THROWS_WITH(all.all_reduce(std::span<float const>(two), std::span(three)), "all_reduce: from and to differ in length");
    CHECK_THROWS_WITH(all.reduce_scatter(std::span<float const>(five), std::span(two)), Catch::Contains("reduce_scatter"));
    CHECK_THROWS_WITH(all.all_gather(std::span<float const>(two), std::span(five)), Catch::Contains("all_gather"));
    CHECK_THROWS_WITH(all.all_to_all(std::span<float const>(three), std::span(three)), Catch::Contains("all_to_all"));
    CHECK_THROWS_WITH(all.broadcast(std::span(two), 2), Catch::Contains("no such root"));
    CHECK_THROWS_WITH(all.swap_with(std::span<float const>(two), std::span(three), 1 - all.rank()), Catch::Contains("swap_with: from and to differ in length"));
    CHECK_THROWS_WITH(all.swap_with(std::span<float const>(two), std::span(two), all.rank()), Catch::Contains("swap_with: there is no such other rank"));
    CHECK_THROWS_WITH(all.send(std::span<float const>(two), all.rank()), Catch::Contains("no such other rank"));
    all.barrier();
  });
}
