// What an op sees that works on whole dense operands instead of elements or rows.
#pragma once

#include <tx/ops/lift.hpp>

namespace tx {

// A dense row-major operand.
template <class T>
struct whole_operand {
  T* data;
  shape dims;
};

// The number an element holds: halves are storage only.
template <class T>
TX_HD constexpr auto number_of(T x) {
  if constexpr (requires { x.widen(); }) return x.widen();
  else return x;
}

}  // namespace tx
