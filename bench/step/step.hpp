// The step of one model of bench_step, with its sizes as macros: an encoder with a two-class head, as the comparison scripts of other
// frameworks train it.
#pragma once

#include "model.hpp"

#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/train/step.hpp>

namespace {

struct config {
  static constexpr int layers = TX_LAYERS, hidden = TX_HIDDEN, heads = TX_HEADS, ffn = TX_FFN;
  static constexpr int vocabulary = 30522, positions = 512, types = 2;
};
constexpr auto loss = [](auto const& model, tx::tensor<tx::i32, TX_BATCH, TX_SEQ> ids, tx::tensor<tx::i32, TX_BATCH> labels) {
  return tx::cross_entropy(model(ids), labels);
};
#if TX_POOL_MEAN
using pooler = tx::nn::bert_mean_pooler<config>;  // every row of the last layer counts
#else
using pooler = tx::nn::bert_pooler<config>;
#endif
template <class... Options>
using step_with = tx::train_step<tx::nn::bert_classifier<config, 2, pooler>, loss, tx::adamw, Options...>;
#if TX_BF16
using step = step_with<tx::mixed<tx::bf16>>;
#elif TX_HALF_KEPT  // half the bytes of activations
using step = step_with<tx::recompute<step_with<>::memory.activations / 2>>;
#else
using step = step_with<>;
#endif

}  // namespace

// Writes the step as a page, see tx/inspect/outline.hpp: in a file of its own, which compiles beside the other.
void TX_PAGE(std::string const& path, std::vector<double> const& seconds);
