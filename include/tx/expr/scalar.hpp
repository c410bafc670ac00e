// Numbers a program reads at run time: set between steps, without compiling again.
#pragma once

#include <tx/expr/var.hpp>
#include <tx/graph/leaf.hpp>

#include <limits>

namespace tx {

inline constexpr int max_groups = 16;  // of parameters, that a model may have
inline constexpr int max_settings = 24;
inline constexpr int max_layers = 126;  // that a rate of its own for each may be told for, with what lies below them

// The run's number, from 1; the number of the update that it is one of the runs of, from 1; 1 where it is the last of those, else 0. Each parameter group g has two: its learning rate at group_rates + 2 g and its weight decay at group_rates + 2 g + 1.
// Numbers that have a name (setting.hpp) follow from named on. From layer_shares on the shares of the rate of layers in a stack, from what
// lies max_layers below the top up to the top, whose share is 1: those of neighbouring layers are neighbours.
enum class scalar : int { step, update, ends_update, group_rates, named = group_rates + 2 * max_groups, layer_shares = named + max_settings };
inline constexpr int scalar_count = static_cast<int>(scalar::layer_shares) + max_layers + 1;

// May a rate of learning or of decay, or a factor of one, be this? A finite number, at least 0.
constexpr bool is_rate(float x) { return x >= 0 && x <= std::numeric_limits<float>::max(); }

constexpr var run_time_scalar(graph& g, scalar which, int offset = 0, shape const& dims = {}) {
  return emit_leaf(g, scalar_info, {dtype::f32, dims}, of_scalar(static_cast<std::int64_t>(which) + offset));
}

}  // namespace tx
