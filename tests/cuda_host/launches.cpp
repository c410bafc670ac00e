// How many kernels a step starts on a device, and how many of them leave most of it idle.
#include "counting_device.hpp"

#include <tx/backends/cuda/kernel_cost.hpp>
#include <tx/inspect/roofline.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

constexpr auto loss = [](auto const& m, tx::tensor<tx::i32, 128, 128> ids, tx::tensor<tx::i32, 128> y) { return tx::cross_entropy(m(ids), y); };
using base = tx::train_step<tx::nn::bert_classifier<tx::nn::bert_base, 2>, loss, tx::adamw, tx::mixed<tx::bf16>>;

// One tile, of so great a depth that it is computed in parts.
constexpr auto deep = [](tx::tensor<tx::bf16, 64, 4096> a, tx::tensor<tx::bf16, 4096, 64> b) { return tx::matmul(a, b); };

}  // namespace

TEST_CASE("What a product of a great depth costs, with a library and without") {
  namespace device = tx::backends::device;
  double const operands = 2 * 64 * 4096 * 2 + 64 * 64 * 4, flops = 2.0 * 64 * 64 * 4096;
  auto const own = tx::costs_of<tx::function<deep>, tx::cuda_target>(tx::h100), library = tx::costs_of<tx::function<deep>, tx::cuda_blas_target>(tx::h100);
  REQUIRE(own.size() == 1);
  REQUIRE(library.size() == 1);
  int const parts = device::depth_parts(1, 4096), tile = device::tile_of(tx::dtype::bf16, device::matrix_units::of_warps);
  CHECK(parts > 1);
  for (tx::kernel_cost const& k : {own[0], library[0]}) {
    CHECK(k.runs == 1);
    CHECK(k.matrix_flops == flops);
    CHECK(k.least_bytes == operands);
    CHECK(k.behind_bytes == 0);
  }
  CHECK(own[0].moved_bytes == operands + 2.0 * parts * tile * tile * 4);
  CHECK(library[0].moved_bytes == operands);  // how it cuts a depth is its own affair
  CHECK(library[0].seconds() == Approx(tx::h100.launch + operands / tx::h100.bytes));
}

TEST_CASE("Launches of a BERT-base step of 128 texts of 128 tokens in bf16") {
  counting::counts const n = counting::launches_of<base>();
  CAPTURE(n.launches, n.small);
  CHECK(n.launches <= 300);
  CHECK(n.small <= 20);
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
  CHECK(n.seconds < 22.1e-3);
  CHECK(tx::total_of(tx::costs_of<base, tx::cuda_blas_target>(tx::h200)).seconds < n.seconds);
}
