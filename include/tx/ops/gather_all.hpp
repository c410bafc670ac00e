// gather_all(x...): tensors laid end to end in one block [rows, block_row]; gaps are zero. Planned in place: whoever computes
// an operand writes it where it belongs.
#pragma once

#include <tx/expr/parameter_layout.hpp>
#include <tx/expr/var.hpp>

namespace tx {

// Where in graph.numbers the first element of each operand is listed, and the block's rows.
constexpr attributes of_gathered(int first_number, int rows) { return {{first_number, rows}}; }
constexpr int first_number(attributes const& at) { return static_cast<int>(at.v[0]); }
constexpr int gathered_rows(attributes const& at) { return static_cast<int>(at.v[1]); }

namespace detail {
constexpr value_info gather_all_infer(value_info const* in, int count, attributes const& at) {
  if (count < 1) throw invalid("gather_all: nothing to gather. FIX: hand in at least one tensor");
  return {in[0].type, shape{2, {}, {gathered_rows(at), block_row}}};
}
}  // namespace detail

inline constexpr op_info gather_all_info{
    .name = "gather_all", .kind = op_kind::gather_all, .arity = -1, .infer = detail::gather_all_infer, .differentiable = false};

}  // namespace tx
