// TwinBERT's training step with its kernels as device code.
#include "same_steps.hpp"
#include "twinbert.hpp"

int main() {
  batch const b = twinbert_batch();
  return same_steps<twinbert_step<>>(b.query, b.document, b.label);
}
