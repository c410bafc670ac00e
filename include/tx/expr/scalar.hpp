// Numbers a program reads at run time: set between steps, without compiling again.
#pragma once

#include <tx/expr/var.hpp>
#include <tx/graph/leaf.hpp>

namespace tx {

// Each parameter group g adds two: its learning rate at group_rates + 2 g and its weight decay at group_rates + 2 g + 1.
enum class scalar : int { step, dropout, clip_norm, group_rates };

constexpr var run_time_scalar(graph& g, scalar which, int offset = 0) {
  return emit_leaf(g, scalar_info, {dtype::f32, {}}, attributes{{static_cast<std::int64_t>(which) + offset}});
}

}  // namespace tx
