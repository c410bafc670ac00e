// How many kernels a step starts on a device, and how many of them leave most of it idle.
#include "counting_device.hpp"

#include <tx/inspect/roofline.hpp>
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
  CHECK(n.launches <= 460);
  CHECK(n.small <= 40);  // 13 of them round biases ahead
}

TEST_CASE("What that step moves, computes and takes on a device at least") {
  tx::run_cost const n = tx::total_of(tx::costs_of<base, tx::cuda_blas_target>(tx::h100));
  double const tokens = 128 * 128, weights = 12.0 * (4 * 768 * 768 + 2 * 768 * 3072);
  CAPTURE(n.seconds, n.matrix_flops, n.other_flops, n.least_bytes, n.moved_bytes);
  // Forward, and a gradient by each side; attention has two products forward and seven backward. The last layer's head reads one token of a text.
  double const wanted = 6 * tokens * weights + 18.0 * 12 * 128 * 128 * tokens * 64 * 12 / 128;
  CHECK(n.matrix_flops > 0.9 * wanted);
  CHECK(n.matrix_flops < wanted);
  CHECK(n.matrix_flops > 0.99 * (n.matrix_flops + n.other_flops));
  CHECK(n.moved_bytes < 1.15 * n.least_bytes);
  CHECK(n.seconds < 24.7e-3);
  CHECK(tx::total_of(tx::costs_of<base, tx::cuda_blas_target>(tx::h200)).seconds < n.seconds);
}
