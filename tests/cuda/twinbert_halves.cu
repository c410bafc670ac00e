// TwinBERT's training step in bf16 and in f16, its products on units for matrices. The reference rounds at the same places, but sums in another order.
#include "same_steps.hpp"
#include "twinbert.hpp"

#include <tx/train/options.hpp>

int main() {
  batch const b = twinbert_batch();
  int const in_bf16 = same_steps_within<twinbert_step<tx::mixed<tx::bf16>>>(4e-3, b.query, b.document, b.label);
  return in_bf16 != 0 ? in_bf16 : same_steps_within<twinbert_step<tx::mixed<tx::f16>>>(1e-3, b.query, b.document, b.label);
}
