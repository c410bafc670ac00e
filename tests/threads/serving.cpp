// Executors in several threads at the same time, each without threads of its own: on one const block of parameters, and
// one that trains beside others that do not. `make check` runs this program under the thread sanitizer.
#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/softmax.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace tx;

struct net {
  param<tensor<f32, 40, 24>> words;
  nn::linear<24, 32> hidden;
  nn::linear<32, 10> out;
  constexpr auto operator()(auto const& ids) const { return out(dropout(gelu(hidden(embedding(words, ids))))); }
};
constexpr auto loss = [](net const& m, tensor<i32, 16, 2> ids, tensor<i32, 16> y) { return cross_entropy(m(ids), y); };
constexpr auto predict = [](net const& m, tensor<i32, dyn<16>, 2> ids) { return softmax(m(ids)); };
using step = train_step<net, loss, adamw>;
using trainer = executor<step, cpu>;
using server = executor<function<predict, net>, cpu>;
using weights = parameter_block<net, cpu>;

constexpr int runs = 50;

// Request k: 1 to 16 rows of two ids.
std::vector<i32> request(int k) {
  std::vector<i32> ids;
  for (int i = 0; i < 2 * (1 + k % 16); ++i) ids.push_back((i * 7 + k * 13) % 40);
  return ids;
}
std::vector<f32> answer(server& run, int k) {
  auto const result = run(request(k)).value;
  return {result.begin(), result.end()};
}
// Of one executor that runs alone.
std::vector<std::vector<f32>> all_answers(weights const& w) {
  server alone{w, {.threads = 1}};
  std::vector<std::vector<f32>> all;
  for (int k = 0; k < runs; ++k) all.push_back(answer(alone, k));
  return all;
}
// Counts answers that differ in a bit; each thread asks in an order of its own.
int wrong_answers(server& run, std::vector<std::vector<f32>> const& wanted, int thread) {
  int wrong = 0;
  for (int i = 0; i < runs; ++i) {
    int const k = (i * 3 + thread * 11) % runs;
    wrong += answer(run, k) != wanted[static_cast<std::size_t>(k)];
  }
  return wrong;
}

// Threads that wait for each other, so that they run at the same time.
class start_line {
 public:
  explicit start_line(int threads) : missing_(threads) {}
  void wait() {
    --missing_;
    while (missing_ > 0) std::this_thread::yield();
  }

 private:
  std::atomic<int> missing_;
};

std::vector<f32> trained(start_line* start) {
  trainer run{seed(4), {.threads = 1}};
  auto const ids = request(15);
  std::vector<i32> y;
  for (int i = 0; i < 16; ++i) y.push_back(i % 10);
  if (start != nullptr) start->wait();
  for (int i = 0; i < 20; ++i) run(ids, y);
  return run.read();
}

}  // namespace

TEST_CASE("four executors on one const block at the same time answer as one that is alone") {
  weights const shared{seed(2), 0};
  auto const wanted = all_answers(shared);
  REQUIRE(wanted[3] != wanted[19]);
  start_line start(4);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      alignas(memory_alignment) std::byte arena[server::arena_bytes];  // the thread's own
      server run{shared, {.threads = 1, .arena = arena}};
      start.wait();
      wrong += wrong_answers(run, wanted, t);
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("training in a thread and inference on other parameters leave each other alone") {
  weights const shared{seed(2), 0};
  auto const wanted = all_answers(shared);
  auto const wanted_weights = trained(nullptr);
  start_line start(3);
  std::atomic<int> wrong = 0;
  std::vector<f32> got;
  std::vector<std::thread> threads;
  threads.emplace_back([&] { got = trained(&start); });
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      server run{shared, {.threads = 1}};
      start.wait();
      wrong += wrong_answers(run, wanted, t);
    });
  for (auto& t : threads) t.join();
  CHECK(got == wanted_weights);
  CHECK(wrong == 0);
}
