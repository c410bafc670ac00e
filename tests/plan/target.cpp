// One step planned for several targets: what differs is what they say, and results are the same.
#include "../furthest.hpp"
#include "../small_kernels.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/cuda/target.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/layer_norm.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/mse.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

struct net {
  tx::nn::linear<6, 20> in;
  tx::nn::layer_norm<20> norm;
  tx::nn::linear<20, 3> out;
  constexpr auto operator()(auto const& x) const { return out(tx::gelu(norm(in(x)))); }
};
constexpr auto loss = [](net const& m, tx::tensor<float, 10, 6> x, tx::tensor<float, 10, 3> y) { return tx::mse(m(x), y); };
using step = tx::train_step<net, loss, tx::adamw>;

// The reference's kernels, on what is planned for the made-up target.
struct elsewhere : tx::reference {
  static constexpr tx::target const& target = small_kernels;
};

static_assert(step::program<small_kernels>::calls.size() > step::program<>::calls.size());
static_assert([] {  // a product's kernel holds nothing else
  using program = step::program<small_kernels>;
  for (auto const& k : program::kernels)
    if (k.lets > 4 || (k.kind == tx::exec::kernel_kind::gemm && k.lets > 0)) return false;
  return true;
}());
static_assert(step::memory_on<small_kernels>.parameters == step::memory.parameters);
static_assert(step::memory_on<small_kernels>.workspace != step::memory.workspace);
static_assert(step::memory_on<tx::cuda_target>.workspace != step::memory.workspace);
static_assert(step::memory_on<tx::cpu_target>.arena == step::memory.arena);

template <class Backend>
std::vector<double> trained(std::vector<double>& losses) {
  tx::executor<step, Backend> run{tx::seed(3)};
  std::vector<float> x(60), y(30);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) * 0.25f - 0.5f;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i % 5) * 0.5f - 1;
  for (int s = 0; s < 10; ++s) losses.push_back(static_cast<double>(static_cast<float>(run(x, y).loss)));
  auto const all = run.read();
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("a step planned for two targets gives the same numbers") {
  std::vector<double> there, here;
  auto const a = trained<elsewhere>(there);
  auto const b = trained<tx::reference>(here);
  CHECK(distance(there, here) < 1e-6);
  CHECK(distance(a, b) < 1e-6);
  CHECK(here.front() > here.back());
}
