// Values that come from outside a program, and the arguments and results of regions.
#pragma once

#include <tx/graph/op_info.hpp>

namespace tx {

namespace detail {
// The shape of a leaf stands in its declaration.
inline value_info leaf_infer(value_info const*, int, attributes const&) { return {}; }
}  // namespace detail

// Argument number at.v[0] of the program.
inline constexpr op_info input_info{.name = "input", .kind = op_kind::leaf, .arity = 0, .infer = detail::leaf_infer, .differentiable = false};
// at.v[0]: first element within the flat parameter block; at.v[1]: which parameter of the model.
inline constexpr op_info parameter_info{.name = "parameter", .kind = op_kind::leaf, .arity = 0, .infer = detail::leaf_infer};
// A slice of a flat block of at.v[0]: 0 parameters, 1 + k optimizer state k; at.v[1]: its first element.
inline constexpr op_info block_info{.name = "block", .kind = op_kind::leaf, .arity = 0, .infer = detail::leaf_infer, .differentiable = false};
// Run-time scalar number at.v[0].
inline constexpr op_info scalar_info{.name = "scalar", .kind = op_kind::leaf, .arity = 0, .infer = detail::leaf_infer, .differentiable = false};
// Argument at.v[0] of region at.v[1].
inline constexpr op_info argument_info{.name = "argument", .kind = op_kind::leaf, .arity = 0, .infer = detail::leaf_infer};

// Runs region at.v[0]; inputs: carries, invariants, stacked. The info is that of its first result.
inline constexpr op_info repeat_info{.name = "repeat", .kind = op_kind::region, .arity = -1, .infer = detail::leaf_infer};
// Result at.v[0] of a region node: final carries, then stacked values with a leading axis of the iterations. Or of an op with several.
inline constexpr op_info result_info{.name = "result", .kind = op_kind::result, .arity = 1, .infer = detail::leaf_infer};

}  // namespace tx
