// mixed<e4m3>: products by parameters of E4M3 within a step of a transformer, beside the same step of bf16.
#include "small_bert.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>

#include <catch2/catch.hpp>

namespace {

struct small {
  static constexpr int layers = 3, hidden = 32, heads = 2, ffn = 64, vocabulary = 50, positions = 9, types = 2;
};
template <class... Options>
using step = small_bert::step<small, Options...>;
using halves = step<tx::mixed<tx::bf16>>;
using quarters = step<tx::mixed<tx::e4m3>>;

static_assert(quarters::memory.parameters == halves::memory.parameters && quarters::memory.optimizer == halves::memory.optimizer);

template <class Step, class Backend>
std::vector<float> losses(float dropout, int threads = 1, int steps = 12) {
  return small_bert::losses<Step, Backend>(dropout, threads, steps);
}
using small_bert::furthest;

}  // namespace

TEST_CASE("a step of E4M3 learns as one of bf16 does, and the CPU's is close to the reference", "[quarters]") {
  for (float const dropout : {0.0f, 0.1f}) {
    auto const of_halves = losses<halves, tx::cpu>(dropout), of_quarters = losses<quarters, tx::cpu>(dropout);
    CHECK(of_halves.front() - of_halves.back() > 0.5f);
    CHECK(of_quarters.front() - of_quarters.back() > 0.5f);
    CHECK(furthest(of_halves, of_quarters) < 0.02);
    CHECK(furthest(of_halves, of_quarters) > 1e-4);  // and they are of E4M3
    auto const slow = losses<quarters, tx::reference>(dropout, 1, 3);
    CHECK(furthest(slow, {of_quarters.begin(), of_quarters.begin() + 3}) < 1e-4);
  }
}

TEST_CASE("a step of E4M3 is the same with any number of threads", "[quarters]") {
  auto const three = losses<quarters, tx::cpu>(0.1f, 3);
  CHECK(losses<quarters, tx::cpu>(0.1f, 1) == three);
}

TEST_CASE("what is computed again within a budget has the bits of what is kept", "[quarters]") {
  using again = step<tx::mixed<tx::e4m3>, tx::recompute<tx::KiB(64)>>;
  static_assert(again::memory.recomputed_flops > 0);
  CHECK(losses<again, tx::cpu>(0) == losses<quarters, tx::cpu>(0));
}
