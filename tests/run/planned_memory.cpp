// What a program was planned to need is what it takes, all of it when the executor is made.
#include "allocations.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/cuda/target.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/accumulate.hpp>
#include <tx/train/averaged.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

std::int64_t taken = 0, blocks = 0;  // by the backend below
struct counted : cpu {
  static std::byte* allocate(std::int64_t count) {
    taken += count;
    ++blocks;
    return cpu::allocate(count);
  }
};

struct block {
  nn::linear<64, 64> dense;
  constexpr auto operator()(auto const& x) const { return x + tanh(dense(x)); }
};
struct net {
  repeat<3, block> layer;
  nn::linear<64, 5> out;
  constexpr auto operator()(auto const& x) const { return out(layer(x)); }
};
template <auto Rows>
constexpr auto loss = [](net const& m, tensor<float, Rows, 64> x, tensor<i32, Rows> y) { return cross_entropy(m(x), y); };
constexpr auto predict = [](net const& m, tensor<float, dyn<32>, 64> x) { return m(x); };

// Bytes beyond the plan: each block is rounded up to cache lines, and so is its start.
template <class Program>
void check(auto const&... arguments) {
  taken = blocks = 0;
  executor<Program, counted> run{seed(1)};
  REQUIRE(blocks > 0);
  CHECK(taken >= Program::memory.peak);
  CHECK(taken <= Program::memory.peak + 128 * blocks);
  std::int64_t const before = taken;
#if !defined(UNCOUNTED)
  long const counted_before = allocations;
#endif
  for (int i = 0; i < 3; ++i) run(arguments...);
#if !defined(UNCOUNTED)
  CHECK(allocations == counted_before);
#endif
  CHECK(taken == before);
}

}  // namespace

TEST_CASE("programs take what they were planned to, and nothing when they run") {
  std::vector<float> const x(32 * 64, 0.5f), few(7 * 64, 0.5f);
  std::vector<i32> const y(32, 3);
  check<train_step<net, loss<32>, adamw>>(x, y);
  check<train_step<net, loss<32>, adamw, clip_gradient, gradient_norm>>(x, y);
  check<train_step<net, loss<16>, averaged<adamw>, accumulate<2>, mixed<bf16>>>(x, y);
  check<value_and_grad<loss<32>, net>>(x, y);
  check<function<predict, net>>(x);
  check<function<predict, net>>(few);
}

TEST_CASE("on a target with a memory of its own the plan has the copies of arguments and scalars too") {
  using step = train_step<net, loss<32>, sgd>;
  constexpr exec::memory_use host = step::memory, device = step::memory_on<cuda_target>;
  STATIC_REQUIRE(host.arguments == 0);
  STATIC_REQUIRE(device.arguments == 2 * exec::aligned(exec::aligned(32 * 64 * 4) + exec::aligned(32 * 4) + exec::scalars_and_step + cuda_target.counter_bytes()));  // two runs may be under way
  STATIC_REQUIRE(device.peak == device.parameters + device.optimizer + device.arena + device.arguments);
}
