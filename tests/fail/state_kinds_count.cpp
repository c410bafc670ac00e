// An optimizer of five states, of kinds of their own.
// expect: tx::state_kinds: an optimizer has at most 4 states. FIX:
#include <tx/train/optimizer.hpp>

constexpr tx::state_kinds kinds{tx::per::row, tx::per::column, tx::per::element, tx::per::element, tx::per::tensor};
static_assert(kinds == 5);
