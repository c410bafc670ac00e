// A run that is saved, ended and resumed continues as if nothing had happened, bit by bit.
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/io/checkpoint.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <sys/wait.h>

#include "../io/temp_folder.hpp"

namespace {

constexpr int rows = 6;
struct block {
  tx::nn::linear<16, 24> wide;
  tx::nn::linear<24, 16> narrow;
  constexpr auto operator()(auto const& x) const { return x + tx::dropout(narrow(tx::tanh(wide(x)))); }
};
struct model {
  tx::repeat<2, block> layer;
  tx::nn::linear<16, 3> head;
};
constexpr auto loss = [](model const& m, tx::tensor<float, rows, 16> x, tx::tensor<tx::i32, rows> label) {
  return tx::cross_entropy(m.head(m.layer(x)), label);
};
template <class... Options>
using step = tx::train_step<model, loss, tx::adamw, Options...>;

// Memory that only copies reach.
struct far : tx::reference {
  static void clear(std::byte* p, std::int64_t count) { __builtin_memset(p, 0, static_cast<std::size_t>(count)); }
  static void upload(std::byte* to, std::byte const* from, std::int64_t count) {
    __builtin_memcpy(to, from, static_cast<std::size_t>(count));
  }
  static void download(std::byte* to, std::byte const* from, std::int64_t count) {
    __builtin_memcpy(to, from, static_cast<std::size_t>(count));
  }
};

template <class Step, class Backend>
using executor = tx::executor<Step, Backend>;

template <class Run>
void settle(Run& run) {
  run.settings["learning_rate"] = 1e-2f;
  run.settings["dropout"] = 0.2f;
  run.settings.set("clip_norm", 0.3f);
  run.settings.schedule = {tx::decay_shape::cosine, 5, 60};
  run.settings.groups[0].decay = 0.07f;
}

// Trains over the data from a place on, a batch a step; the losses.
template <class Step, class Run>
std::vector<float> train(Run& run, std::int64_t& place, int steps) {
  std::vector<float> x(static_cast<std::size_t>(16 * rows * Step::parts));
  std::vector<tx::i32> label(static_cast<std::size_t>(rows * Step::parts));
  std::vector<float> losses;
  for (int n = 0; n < steps; ++n, ++place) {
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>((i * 13 + static_cast<std::size_t>(place) * 7) % 50) / 25 - 1;
    for (std::size_t i = 0; i < label.size(); ++i)
      label[i] = static_cast<tx::i32>((i * i + static_cast<std::size_t>(place)) % 3);
    losses.push_back(run(x, label).loss);
  }
  return losses;
}

// Everything a run holds.
template <class Run>
auto state_of(Run const& run) {
  std::vector<decltype(run.read(0))> blocks;
  for (int k = 0; k <= run.states(); ++k) blocks.push_back(run.read(k));
  return std::tuple(std::move(blocks), run.steps_run(), run.seed());
}

template <class Step, class Backend = tx::cpu>
void check_that_it_resumes(int half) {
  temp_folder folder;
  executor<Step, Backend> whole{tx::seed(7), {2}};
  settle(whole);
  std::int64_t place = 3;
  auto const first = train<Step>(whole, place, half);
  tx::io::save_checkpoint(folder.path, whole, {{"place", place}});
  auto const before = state_of(whole);
  CHECK(state_of(whole) == before);  // saving changes nothing
  auto const second = train<Step>(whole, place, half);
  CHECK(state_of(whole) != before);

  // Another executor, of another seed, that has even trained, on another number of threads.
  executor<Step, Backend> again{tx::seed(99), {1}};
  std::int64_t elsewhere = 100;
  train<Step>(again, elsewhere, 2);
  auto const from = tx::io::load_checkpoint(folder.path, again);
  CHECK(from.step == half);
  CHECK(state_of(again) == before);
  CHECK(again.settings.schedule.total == 60);
  CHECK(again.settings.groups[0].decay == 0.07f);
  auto resumed_place = tx::io::value_of<std::int64_t>(from.position, "place");
  CHECK(resumed_place == 3 + half);
  CHECK(train<Step>(again, resumed_place, half) == second);
  CHECK(state_of(again) == state_of(whole));

  // Without dropout's stream or the step these would be equal too: they are not what the test is about.
  executor<Step, Backend> other{tx::seed(7), {1}};
  tx::io::load_checkpoint(folder.path, other);
  other.restore(half, 8);
  resumed_place = 3 + half;
  CHECK(train<Step>(other, resumed_place, half) != second);
}

}  // namespace

TEST_CASE("a resumed run continues bit by bit: updates at once", "[resume]") { check_that_it_resumes<step<>>(25); }

TEST_CASE("a resumed run continues bit by bit: clipped, products of halves", "[resume]") {
  check_that_it_resumes<step<tx::clip_gradient, tx::mixed<tx::bf16>>>(25);
}

TEST_CASE("a resumed run continues bit by bit: parts of a batch", "[resume]") {
  check_that_it_resumes<step<tx::accumulate<2>>>(25);
}

TEST_CASE("a resumed run continues bit by bit: memory that the host does not reach", "[resume]") {
  check_that_it_resumes<step<>, far>(4);
}

TEST_CASE("a process saves, another goes on", "[resume]") {
  temp_folder folder;
  std::int64_t place = 0;
  executor<step<>, tx::cpu> whole{tx::seed(7), {1}};
  settle(whole);
  train<step<>>(whole, place, 50);
  for (int part = 0; part < 2; ++part) {
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {  // one thread: it inherits no others
      executor<step<>, tx::cpu> run{tx::seed(7), {1}};
      std::int64_t at = 0;
      if (part == 0)
        settle(run);
      else
        at = tx::io::value_of<std::int64_t>(tx::io::load_checkpoint(folder.path, run).position, "place");
      train<step<>>(run, at, 25);
      tx::io::save_checkpoint(folder.path, run, {{"place", at}});
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  executor<step<>, tx::cpu> run{tx::seed(1), {1}};
  tx::io::load_checkpoint(folder.path, run);
  CHECK(state_of(run) == state_of(whole));
}

TEST_CASE("programs that share parameters resume together", "[resume]") {
  temp_folder folder;
  std::int64_t place = 0;
  executor<step<>, tx::cpu> a{tx::seed(7)};
  executor<step<tx::clip_gradient, tx::mixed<tx::bf16>>, tx::cpu> b{a};
  settle(a);
  settle(b);
  train<step<>>(a, place, 3);
  tx::io::save_checkpoint(folder.path, b);
  auto const second = train<step<>>(b, place, 3);
  executor<step<>, tx::cpu> c{tx::seed(8)};
  executor<step<tx::clip_gradient, tx::mixed<tx::bf16>>, tx::cpu> d{c};
  tx::io::load_checkpoint(folder.path, d);
  place = 3;
  CHECK(train<step<>>(d, place, 3) == second);
  CHECK(c.steps_run() == 6);
}
