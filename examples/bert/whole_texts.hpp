// What programs of a head for whole texts have in common. Included behind the model's header.
#pragma once

#include "packed_texts.hpp"

#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/mse.hpp>

namespace bert::TX_ON_CHOSEN(detail) {

using targets = tx::tensor<tx::f32, model::batch>;

// logits [batch, labels]; targets are numbers of labels, or numbers
constexpr auto loss_of(auto const& logits, targets const& wanted) {
  if constexpr (model::labels == 1) return tx::mse(tx::reshape<model::batch>(logits), wanted);
  else return tx::cross_entropy(logits, tx::cast<tx::i32>(wanted));
}

// [texts, labels]
template <bool Typed>
std::vector<float> logits_of(std::span<coded_text const> texts, auto& program) {
  return said_of<Typed>(texts, program, [](judged_batch const& b) { return b.texts() * model::labels; });
}

}  // namespace bert::detail
