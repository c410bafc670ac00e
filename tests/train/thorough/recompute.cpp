// recompute<Bytes>: activations within a budget, and the same bits.
#include <tx/backends/cpu.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/layer_norm.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

struct block {
  tx::nn::linear<16, 48> wide;
  tx::nn::linear<48, 16> narrow;
  tx::nn::layer_norm<16> norm;
  constexpr auto operator()(auto const& x) const { return norm(x + tx::dropout(narrow(tx::gelu(wide(x))))); }
};
struct model {
  tx::repeat<6, block> layer;
  tx::nn::linear<16, 3> head;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 20, 16> x, tx::tensor<tx::i32, 20> label) { return tx::cross_entropy(m.head(m.layer(x)), label); };
template <class... Options>
using step = tx::train_step<model, loss, tx::adamw, Options...>;

// Of a few steps, then the parameters.
template <class Step>
std::vector<float> outcome() {
  tx::executor<Step, tx::cpu> run{tx::seed(5)};
  run.settings["learning_rate"] = 1e-2f;
  run.settings.set("dropout", 0.1f);
  std::vector<float> x(320);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 50) / 25 - 1;
  std::vector<tx::i32> label(20);
  for (std::size_t i = 0; i < label.size(); ++i) label[i] = static_cast<tx::i32>(i % 3);
  std::vector<float> all;
  for (int i = 0; i < 5; ++i) all.push_back(run(x, label).loss);
  all.insert(all.end(), run.elements().begin(), run.elements().end());
  return all;
}

constexpr std::int64_t all_kept = step<>::memory.activations;
using half = step<tx::recompute<all_kept / 2>>;
using least = step<tx::recompute<all_kept * 3 / 10>>;
static_assert(step<>::memory.recomputed_flops == 0);
static_assert(half::memory.activations <= all_kept / 2);
static_assert(half::memory.recomputed_flops > 0);
static_assert(least::memory.activations <= all_kept * 3 / 10);
static_assert(least::memory.recomputed_flops > half::memory.recomputed_flops);
static_assert(step<tx::recompute<all_kept>>::memory.recomputed_flops == 0, "a budget that is met costs nothing");

// FLOPs of all products of a step: forward, and twice that backward.
template <class Step>
constexpr std::int64_t product_flops() {
  std::int64_t sum = 0;
  auto const add = [&](int first, int count, std::int64_t times, auto const& self) -> void {
    for (int i = first; i < first + count; ++i) {
      auto const& s = Step::template program<>::instructions[i];
      if (s.kind == tx::exec::instruction_kind::loop) {
        auto const& l = Step::template program<>::loops[s.index];
        self(l.first, l.count, times * l.iterations, self);
        continue;
      }
      auto const& c = Step::template program<>::calls[s.index];
      if (Step::template program<>::kernels[c.kernel].kind == tx::exec::kernel_kind::gemm) sum += 2 * c.rows * c.cols * c.depth * times;
    }
  };
  add(Step::template program<>::loops[0].first, Step::template program<>::loops[0].count, 1, add);
  return sum;
}
static_assert(product_flops<half>() == product_flops<step<>>() + half::memory.recomputed_flops, "it costs what it says");
static_assert(product_flops<least>() == product_flops<step<>>() + least::memory.recomputed_flops);

}  // namespace

TEST_CASE("what is computed again is what would have been kept, bit by bit", "[recompute]") {
  auto const want = outcome<step<>>();
  CHECK(want[0] > want[4] + 0.05f);
  CHECK(outcome<half>() == want);
  CHECK(outcome<least>() == want);
}

TEST_CASE("rounded products are computed again too", "[recompute]") {
  using mixed = step<tx::mixed<tx::bf16>>;
  using less = step<tx::recompute<mixed::memory.activations / 2>, tx::mixed<tx::bf16>>;
  static_assert(less::memory.activations <= mixed::memory.activations / 2);
  auto const got = outcome<less>(), want = outcome<mixed>();
  if constexpr (!tx::backends::cpu::has_matrix_unit<tx::bf16>) CHECK(got == want);
  else for (std::size_t i = 0; i < 5; ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-4));  // its products are cut into other shares, so biases' gradients are added in another order
}
