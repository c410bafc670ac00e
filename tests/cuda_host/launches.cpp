// How many kernels a step starts on a device, and how many of them leave most of it idle.
#include "counting_device.hpp"

#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

constexpr auto loss = [](auto const& m, tx::tensor<tx::i32, 128, 128> ids, tx::tensor<tx::i32, 128> y) { return tx::cross_entropy(m(ids), y); };
using base = tx::train_step<tx::nn::bert_classifier<tx::nn::bert_base, 2>, loss, tx::adamw, tx::mixed<tx::bf16>>;

}  // namespace

TEST_CASE("Launches of a BERT-base step of 128 texts of 128 tokens in bf16") {
  counting::counts const n = counting::launches_of<base>();
  CAPTURE(n.launches, n.small);
  CHECK(n.launches <= 431);
  CHECK(n.small <= 36);
}
