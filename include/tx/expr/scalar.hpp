// Numbers a program reads at run time: set between steps, without compiling again.
#pragma once

#include <tx/expr/var.hpp>
#include <tx/graph/leaf.hpp>

namespace tx {

inline constexpr int max_groups = 16;  // of parameters, that a model may have
inline constexpr int max_settings = 24;

// Each parameter group g has two: its learning rate at group_rates + 2 g and its weight decay at group_rates + 2 g + 1.
// Numbers that have a name (setting.hpp) follow from named on.
enum class scalar : int { step, group_rates, named = group_rates + 2 * max_groups };
inline constexpr int scalar_count = static_cast<int>(scalar::named) + max_settings;

constexpr var run_time_scalar(graph& g, scalar which, int offset = 0) {
  return emit_leaf(g, scalar_info, {dtype::f32, {}}, of_scalar(static_cast<std::int64_t>(which) + offset));
}

}  // namespace tx
