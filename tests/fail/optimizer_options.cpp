// Options of optimizers beyond their ranges.
// several errors
// expect: tx::sgd_with: a momentum is at least 0 and below 1
// expect somewhere: tx::rmsprop_with: a momentum is at least 0 and below 1
// expect somewhere: tx::adagrad_with: rate_decay and start are at least 0. FIX:
#include <tx/train/adagrad.hpp>
#include <tx/train/rmsprop.hpp>
#include <tx/train/sgd.hpp>

tx::sgd_with<tx::sgd_options{.momentum = 1}> a;
tx::rmsprop_with<tx::rmsprop_options{.momentum = -0.5}> b;
tx::adagrad_with<tx::adagrad_options{.start = -1}> c;
