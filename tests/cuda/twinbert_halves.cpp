// TwinBERT's training step in bf16: products and attention on units for matrices. The reference rounds at the same places, but sums in another order, and does
// not round attention's probabilities.
#include "same_steps.hpp"
#include "twinbert.hpp"

#include <tx/train/options.hpp>

int main() {
  batch const b = twinbert_batch();
  return same_steps_within<twinbert_step<tx::mixed<tx::bf16>>>(4e-3, b.query, b.document, b.label);
}
