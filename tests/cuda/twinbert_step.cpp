// TwinBERT's training step with its kernels as device code.
#include "same_steps.hpp"
#include "twinbert.hpp"

int main() {
  batch const b = twinbert_batch();
  if (int const status = same_steps<twinbert_step<>>(b.query, b.document, b.label); status != 0) return status;
  return same_a_step_late<twinbert_step<>>(b.query, b.document, b.label);
}
