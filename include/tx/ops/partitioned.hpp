// What an op sees that works on whole dense operands instead of elements or rows.
#pragma once

#include <tx/core/philox.hpp>
#include <tx/core/random_rows.hpp>
#include <tx/ops/lift.hpp>

namespace tx {

// A rule may also say one element of its result, `element(i, attributes, out, in...)`, as its `run` does: for devices, whose threads take neighbouring ones.
//
// A dense row-major operand.
template <class T>
struct whole_operand {
  T* data;
  shape dims;
};

// Random numbers that an op draws itself (`op_info::draws`), as exec::access::random says; [rows, columns] of them.
struct drawn_operand {
  philox_key key;
  philox_stream stream;
  random_rows rows;
  shape dims;
};

// The number at a row and a column, drawn or read.
TX_HD inline float uniform_at(drawn_operand const& u, std::int64_t row, std::int64_t col) {
  return uniform(u.key, u.stream, u.rows(row), static_cast<std::uint32_t>(col));
}
template <class T>
TX_HD T uniform_at(whole_operand<T const> const& u, std::int64_t row, std::int64_t col) {
  return u.data[row * u.dims.last() + col];
}

}  // namespace tx
