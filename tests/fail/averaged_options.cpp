// An average with a decay beyond its range, and of an optimizer that leaves no room for it.
// several errors
// expect: tx::averaged: a decay is at least 0 and below 1
// expect somewhere: tx::averaged: the optimizer has so many states that none is left for the average
#include <tx/train/averaged.hpp>
#include <tx/train/sgd.hpp>

struct four_states {
  static constexpr int states = 4;
  static constexpr tx::var update(tx::update_context& u) { return u.parameter; }
};
tx::averaged<tx::sgd, tx::average_options{1}> a;
tx::averaged<four_states> b;
