// BERT-base at 8 x 128, by its plan alone: no kernel of it is compiled here.
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

using tx::tensor;

struct base {
  static constexpr int layers = 12, hidden = 768, heads = 12, ffn = 3072, vocabulary = 30522, positions = 512, types = 2;
};
using model = tx::nn::bert_classifier<base, 2>;
constexpr auto loss = [](auto const& m, tensor<tx::i32, 8, 128> ids, tensor<tx::i32, 8, 128> mask, tensor<tx::i32, 8> label) {
  return tx::cross_entropy(m(ids, mask), label);
};
using step = tx::train_step<model, loss, tx::adamw, tx::clip_gradient>;

static_assert(step::memory.activations <= 700'000'000);
static_assert(20 * step::memory.arena <= 21 * step::memory.largest_live);
static_assert(step::memory.parameters >= 4 * 109'000'000ll);

// Without a norm of all gradients each is used up at once, as the epilogue of the product that computes it.
using unclipped = tx::train_step<model, loss, tx::adamw>;
static_assert(unclipped::memory.activations <= 700'000'000);
static_assert(unclipped::memory.gradients < unclipped::memory.parameters / 4);
static_assert(unclipped::memory.arena < 550'000'000);
static_assert(20 * unclipped::memory.arena <= 21 * unclipped::memory.largest_live);

}  // namespace

TEST_CASE("the plan of a BERT-base step") {
  INFO("activations " << step::memory.activations / 1'000'000 << " MB, gradients " << step::memory.gradients / 1'000'000 << " MB, arena "
                      << step::memory.arena / 1'000'000 << " MB, peak " << step::memory.peak / 1'000'000 << " MB, kernels " << step::program<>::kernels.size());
  CHECK(step::program<>::kernels.size() < 80);
  INFO("without clipping: gradients " << unclipped::memory.gradients / 1'000'000 << " MB, arena " << unclipped::memory.arena / 1'000'000
                                      << " MB, kernels " << unclipped::program<>::kernels.size());
  CHECK(unclipped::program<>::kernels.size() < 80);
}
