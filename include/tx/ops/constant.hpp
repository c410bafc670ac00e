// A number known while compiling: a scalar, broadcast where a shape is asked for.
#pragma once

#include <tx/expr/var.hpp>

#include <bit>

namespace tx {

namespace detail {
constexpr value_info constant_infer(value_info const*, int, attributes const& at) {
  return {static_cast<dtype>(at.v[1]), {}};
}
}  // namespace detail

// The bits of the number as f64, and its element type.
inline constexpr op_info constant_info{
    .name = "constant", .kind = op_kind::constant, .arity = 0, .infer = detail::constant_infer, .differentiable = false};

constexpr var constant(graph& g, dtype type, double value) {
  if (type == dtype::f32) value = static_cast<double>(static_cast<float>(value));
  attributes at{};
  at.v[0] = std::bit_cast<std::int64_t>(value);
  at.v[1] = static_cast<std::int64_t>(type);
  return {&g, g.emit(&constant_info, nullptr, 0, at)};
}

constexpr double constant_value(node const& n) { return std::bit_cast<double>(n.at.v[0]); }

// The number a value is everywhere, through broadcasts and reshapes of a constant. What gradients are taken by is none: it has a slope.
constexpr bool is_constant(graph const& g, int id, double& value) {
  node const* n = &g[id];
  while (n->op->kind == op_kind::view && !n->op->variable) n = &g[g.input(*n, 0)];
  if (n->op != &constant_info) return false;
  value = constant_value(*n);
  return true;
}
constexpr bool is_constant(graph const& g, int id, int value) {
  double v = 0;
  return is_constant(g, id, v) && v == static_cast<double>(value);
}

}  // namespace tx
