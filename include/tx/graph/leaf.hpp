// Values that come from outside a program, and the arguments and results of regions.
#pragma once

#include <tx/graph/op_info.hpp>

namespace tx {

namespace detail {
// The shape of a leaf stands in its declaration.
inline value_info leaf_infer(value_info const*, int, attributes const&) { return {}; }
}  // namespace detail

// An argument of the program: which one.
constexpr attributes of_input(int number) { return {{number}}; }
constexpr int input_number(attributes const& at) { return static_cast<int>(at.v[0]); }
inline constexpr op_info input_info{.name = "input", .kind = op_kind::leaf, .arity = 0, .infer = detail::leaf_infer, .differentiable = false};
// A parameter: its first element within the flat block, counted in elements of its own type, and which of the model's layout it is.
constexpr attributes of_parameter(std::int64_t first, int entry = 0) { return {{first, entry}}; }
constexpr std::int64_t parameter_first(attributes const& at) { return at.v[0]; }
constexpr int parameter_entry(attributes const& at) { return static_cast<int>(at.v[1]); }
inline constexpr op_info parameter_info{.name = "parameter", .kind = op_kind::leaf, .arity = 0, .infer = detail::leaf_infer};
// A slice of a flat block: which, 0 the parameters, 1 + k state k of the optimizer, and its first element there.
constexpr attributes of_block(int block, std::int64_t first) { return {{block, first}}; }
constexpr int block_number(attributes const& at) { return static_cast<int>(at.v[0]); }
constexpr std::int64_t block_first(attributes const& at) { return at.v[1]; }
inline constexpr op_info block_info{.name = "block", .kind = op_kind::leaf, .arity = 0, .infer = detail::leaf_infer, .differentiable = false};
// Run-time scalars: which one, or the first of a row of them.
constexpr attributes of_scalar(std::int64_t number) { return {{number}}; }
constexpr int scalar_number(attributes const& at) { return static_cast<int>(at.v[0]); }
inline constexpr op_info scalar_info{.name = "scalar", .kind = op_kind::leaf, .arity = 0, .infer = detail::leaf_infer, .differentiable = false};
// An argument of a region: which one, of which region.
constexpr attributes of_argument(std::int64_t number, int region) { return {{number, region}}; }
constexpr int argument_number(attributes const& at) { return static_cast<int>(at.v[0]); }
constexpr int argument_region(attributes const& at) { return static_cast<int>(at.v[1]); }
inline constexpr op_info argument_info{.name = "argument", .kind = op_kind::leaf, .arity = 0, .infer = detail::leaf_infer};

// Runs a region; inputs: carries, invariants, stacked. The info is that of its first result.
constexpr attributes of_region(int region) { return {{region}}; }
constexpr int run_region(attributes const& at) { return static_cast<int>(at.v[0]); }
inline constexpr op_info repeat_info{.name = "repeat", .kind = op_kind::region, .arity = -1, .infer = detail::leaf_infer};
// A result of a region node, which one: final carries, then stacked values with a leading axis of the iterations. Or of an op with several.
constexpr attributes of_result(int number) { return {{number}}; }
constexpr int result_number(attributes const& at) { return static_cast<int>(at.v[0]); }
inline constexpr op_info result_info{.name = "result", .kind = op_kind::result, .arity = 1, .infer = detail::leaf_infer};

}  // namespace tx
