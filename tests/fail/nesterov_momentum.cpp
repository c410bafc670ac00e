// Nesterov's step without a momentum.
// expect: tx::sgd_with: Nesterov's step needs a momentum. FIX: sgd_options{.momentum = 0.9, .nesterov = true}
#include <tx/train/sgd.hpp>

static_assert(tx::sgd_with<tx::sgd_options{.nesterov = true}>::states == 1);
