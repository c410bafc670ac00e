// gather_all(x...): tensors laid end to end in one block [rows, block_row]; gaps are zero. Planned in place: whoever computes
// an operand writes it where it belongs.
#pragma once

#include <tx/expr/layout.hpp>
#include <tx/expr/var.hpp>

namespace tx {

namespace detail {
constexpr value_info gather_all_infer(value_info const* in, int count, attributes const& at) {
  if (count < 1) throw invalid("gather_all: nothing to gather. FIX: hand in at least one tensor");
  return {in[0].type, shape{2, {}, {static_cast<int>(at.v[1]), block_row}}};
}
}  // namespace detail

// at.v[0]: where in graph.numbers the first element of each operand is listed; at.v[1]: rows.
inline constexpr op_info gather_all_info{
    .name = "gather_all", .kind = op_kind::gather_all, .arity = -1, .infer = detail::gather_all_infer, .differentiable = false};

}  // namespace tx
