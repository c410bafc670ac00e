// Executors come and go in several threads, in children of forks and while the process ends; the threads that help them are the
// process's. Under the thread or the address sanitizer a child of a fork may wait for ever for a lock that a thread of its parent held.
#include "helped.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define WITHOUT_CHILDREN
#endif
#endif

namespace {

using namespace tx;

struct net {
  nn::linear<24, 32> hidden;
  nn::linear<32, 10> out;
  constexpr auto operator()(auto const& x) const { return softmax(out(hidden(x))); }
};
constexpr auto predict = [](net const& m, tensor<f32, 40, 24> x) { return m(x); };
using server = executor<function<predict, net>, cpu>;

std::vector<f32> answer(server& run) {
  std::vector<f32> const x(40 * 24, 0.25f);
  auto const result = run(x).value;
  return {result.begin(), result.end()};
}
std::vector<f32> fresh_answer(int threads) {
  server run{seed(3), {.threads = threads}};
  return answer(run);
}

#if !defined(WITHOUT_CHILDREN)
// Whether a child that calls f(), which ends it, does so with 0 and within some seconds.
template <class F>
bool child_succeeds(F const& f) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(20);
    f();
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
#endif

}  // namespace

TEST_CASE("10,000 executors are made, run and destroyed by four threads") {
  auto const wanted = fresh_answer(1);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2500; ++i) wrong += fresh_answer(1 + (i + t) % 4) != wanted;
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("two executors with helpers at the same time answer as alone") {
  auto const wanted = fresh_answer(1);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      server run{seed(3), {.threads = 2}};
      for (int i = 0; i < 2000; ++i) wrong += answer(run) != wanted;
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

#if !defined(WITHOUT_CHILDREN)
TEST_CASE("an executor runs in a child, one made before the fork and one made after") {
  server before{seed(3), {.threads = 3}};
  auto const wanted = answer(before);
  CHECK(child_succeeds([&] {
    bool right = true;
    for (int i = 0; i < 50; ++i) right = right && answer(before) == wanted && fresh_answer(2 + i % 4) == wanted;
    _exit(right && helped() ? 0 : 1);
  }));
  CHECK(answer(before) == wanted);  // the parent's threads are its own
}

TEST_CASE("a child of a process in which another thread runs an executor") {
  auto const wanted = fresh_answer(1);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    server run{seed(3), {.threads = 3}};
    while (!stop) answer(run);
  });
  int succeeded = 0;
  for (int i = 0; i < 10; ++i) {
    server mine{seed(3), {.threads = 3}};
    std::vector<f32> const x(40 * 24, 0.25f);
    succeeded += child_succeeds([&] {
      auto const result = mine(x).value;
      _exit(std::equal(result.begin(), result.end(), wanted.begin()) ? 0 : 1);
    });
  }
  stop = true;
  other.join();
  CHECK(succeeded == 10);
}

TEST_CASE("a process may end while its threads work") {
  for (int i = 0; i < 5; ++i)
    CHECK(child_succeeds([&] {
      std::atomic<int> runs{0};
      for (int t = 0; t < 2; ++t)
        std::thread([&] {
          server run{seed(3), {.threads = 3}};
          for (;;) answer(run), ++runs;
        }).detach();
      while (runs < 20) std::this_thread::yield();
      std::exit(0);  // with its destructors, while both run
    }));
}
#endif
