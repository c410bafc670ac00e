// join(x..., axis): tensors laid one after the other along an axis, as concat does, but planned in place: whoever computes an operand writes it where it
// belongs, and readers of an operand alone see a slice. Passes record it (passes/neighbours.hpp); models say concat. Errors: those of concat.
//
//   a [16384, 768], b [16384, 768] -> join<1> [16384, 1536]: rows of a and of b are 1,536 elements apart
#pragma once

#include <tx/ops/concat.hpp>
#include <tx/ops/gather_all.hpp>

namespace tx {

inline constexpr op_info join_info{.name = "join", .kind = op_kind::gather_all, .arity = -1, .infer = detail::concat_infer, .differentiable = false};

constexpr var join(vec<var> const& in, int axis) {
  vec<int> ids{};
  for (var const& v : in) ids.push_back(v.id);
  return {in[0].g, in[0].g->emit(&join_info, ids.data(), ids.size(), along(axis))};
}

namespace detail {
// The axis of a node of it, and where operand k begins along that.
constexpr int joined_along(graph const& g, int id) { return static_cast<int>(axis_of(g[id].at)); }
constexpr std::int64_t first_along(graph const& g, int id, int k) {
  std::int64_t first = 0;
  for (int i = 0; i < k; ++i) first += g.info(g.input(id, i)).dims.dim[joined_along(g, id)];
  return first;
}
}  // namespace detail

}  // namespace tx
