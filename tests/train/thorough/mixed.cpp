// mixed<bf16>: products of halves within a step whose parameters, statistics and update stay f32.
#include "small_bert.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>

#include <catch2/catch.hpp>

namespace {

struct small {
  static constexpr int layers = 3, hidden = 40, heads = 2, ffn = 72, vocabulary = 50, positions = 9, types = 2;
};
template <class... Options>
using step = small_bert::step<small, Options...>;
using whole = step<>;
using mixed = step<tx::mixed<tx::bf16>>;

static_assert(mixed::memory.parameters == whole::memory.parameters);
static_assert(mixed::memory.activations < whole::memory.activations * 5 / 6, "what is kept of products is halves; lse is f32");

template <class Step, class Backend>
std::vector<float> losses(float dropout, int threads = 1, int steps = 6) {
  return small_bert::losses<Step, Backend>(dropout, threads, steps);
}
using small_bert::furthest;

}  // namespace

TEST_CASE("a mixed step is close to an f32 one, and the CPU's close to the reference", "[mixed]") {
  for (float const dropout : {0.0f, 0.1f}) {
    auto const exact = losses<whole, tx::cpu>(dropout), rounded = losses<mixed, tx::cpu>(dropout);
    CHECK(exact.front() - exact.back() > 0.5f);  // it learns
    CHECK(furthest(exact, rounded) < 0.05);
    CHECK(furthest(exact, rounded) > 1e-5);      // and rounds
    auto const slow = losses<mixed, tx::reference>(dropout, 1, 3);
    CHECK(furthest(slow, {rounded.begin(), rounded.begin() + 3}) < 0.01);
  }
}

TEST_CASE("a mixed step is the same with any number of threads", "[mixed]") {
  auto const three = losses<mixed, tx::cpu>(0.1f, 3);
  CHECK(losses<mixed, tx::cpu>(0.1f, 1) == three);
}

TEST_CASE("a mixed step that computes products again trains to the bits of one that keeps them", "[mixed]") {
  using frugal = step<tx::mixed<tx::bf16>, tx::recompute<mixed::memory.activations * 3 / 4>>;
  static_assert(frugal::memory.recomputed_flops > 0);
  auto const got = losses<frugal, tx::cpu>(0.1f, 1, 20), want = losses<mixed, tx::cpu>(0.1f, 1, 20);
  if constexpr (!tx::backends::cpu::has_matrix_unit<tx::bf16>) CHECK(got == want);
  else CHECK(furthest(got, want) < 0.02);  // its products are cut into other shares, so biases' gradients are added in another order
}

namespace {
struct product {
  tx::param<tx::tensor<float, 6, 5>, tx::init::ones> weight;
};
constexpr auto weighed = [](product const& m, tx::tensor<float, 7, 6> x, tx::tensor<float, 7, 5> by) { return tx::sum(tx::matmul(x, m.weight) * by); };
template <class... Options>
using product_step = tx::train_step<product, weighed, tx::adamw, Options...>;
}  // namespace

TEST_CASE("where nothing has to be rounded a mixed step is the f32 one, bit by bit", "[mixed]") {
  tx::executor<product_step<>, tx::cpu> exact{tx::seed(1)};
  tx::executor<product_step<tx::mixed<tx::bf16>>, tx::cpu> rounded{tx::seed(1)};
  std::vector<float> x, by;
  for (int i = 0; i < 42; ++i) x.push_back(static_cast<float>(i % 9 - 4));
  for (int i = 0; i < 35; ++i) by.push_back(static_cast<float>(i % 5 * 37 - 100));  // a bf16; sums of seven of them times x are none
  CHECK(exact(x, by).loss == rounded(x, by).loss);
  for (std::size_t k = 0; k < exact.tensors().size(); ++k) {
    auto const a = exact.tensors()[k].data, b = rounded.tensors()[k].data;
    CHECK(std::vector<float>(a.begin(), a.end()) == std::vector<float>(b.begin(), b.end()));
  }
  bool inexact = false;
  for (int k : {1, 2}) {  // AdamW's moments: the gradient, and its square
    auto const a = exact.elements(k), b = rounded.elements(k);
    CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
    for (float g : exact.elements(1)) inexact = inexact || tx::bf16::from(10 * g).widen() != 10 * g;
  }
  CHECK(inexact);
}

TEST_CASE("halves of either kind are what products see", "[mixed]") {
  tx::executor<product_step<tx::mixed<tx::bf16>>, tx::cpu> upper{tx::seed(1)};
  tx::executor<product_step<tx::mixed<tx::f16>>, tx::cpu> ieee{tx::seed(1)};
  std::vector<float> x(42, 1.0f + 0x1p-9f), by(35, 1.0f);
  CHECK(upper(x, by).loss == 7 * 6 * 5.0f);                 // bf16 has 7 fraction bits
  CHECK(ieee(x, by).loss == Approx(7 * 6 * 5 * (1 + 0x1p-9)).epsilon(1e-6));  // f16 has 10
}
