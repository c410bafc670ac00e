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

}  // namespace tx
