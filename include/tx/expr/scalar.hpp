// Numbers a program reads at run time: set between steps, without compiling again.
#pragma once

#include <tx/expr/var.hpp>
#include <tx/graph/leaf.hpp>

#include <limits>

namespace tx {

inline constexpr int max_groups = 16;  // of parameters, that a model may have
inline constexpr int max_settings = 24;
inline constexpr int max_layers = 126;  // that a rate of its own for each may be told for, with what lies below them

// The numbers that a run is told, and where among them each is.
enum class scalar : int {
  run,          // the number of this run, from 1
  update,       // the number of the update that this run is one of the runs of, from 1
  shards,       // of the batch, of all ranks
  ends_update,  // 1 where this run is the last of those, else 0
  group_rates,  // two for each parameter group g: its learning rate at group_rates + 2 g, its weight decay behind that
  named = group_rates + 2 * max_groups,  // those that have a name (setting.hpp)
  layer_shares = named + max_settings,   // shares of the rate, for what lies max_layers below the top of a stack up to the top itself, whose share is 1
};
inline constexpr int scalar_count = static_cast<int>(scalar::layer_shares) + max_layers + 1;

// May a rate of learning or of decay, or a factor of one, be this? A finite number, at least 0.
constexpr bool is_rate(float x) { return x >= 0 && x <= std::numeric_limits<float>::max(); }

constexpr var run_time_scalar(graph& g, scalar which, int offset = 0, shape const& dims = {}) {
  return emit_leaf(g, scalar_info, {dtype::f32, dims}, of_scalar(static_cast<std::int64_t>(which) + offset));
}

}  // namespace tx
