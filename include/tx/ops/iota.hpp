// iota<Axis>(like): the position along an axis, as i32, in the shape of another tensor. [2, 5] -> i32 [2, 5].
#pragma once

#include <tx/ops/cast.hpp>
#include <tx/ops/equal.hpp>

namespace tx {

// Along which axis.
constexpr attributes of_position(int axis) { return {{axis}}; }
constexpr int position_axis(attributes const& at) { return static_cast<int>(at.v[0]); }
inline constexpr op_info iota_info{
    .name = "iota", .kind = op_kind::index, .arity = 0, .infer = detail::leaf_infer, .differentiable = false};

constexpr var iota(graph& g, shape dims, int axis) {
  if (axis < 0) axis += dims.rank;
  if (axis < 0 || axis >= dims.rank) throw invalid("iota: the shape has no such axis. FIX: name one of its axes, from 0, or from the end with a negative number");
  return emit_leaf(g, iota_info, {dtype::i32, dims}, of_position(axis));
}

namespace detail {
// Ids, to be compared with positions: in a type that holds both.
constexpr var as_positions(var ids) { return ids.type() == dtype::i64 ? ids : cast(ids, dtype::i32); }
// Where the position along the last axis is the row's id: ids [..., 1] made so -> [..., C] bool.
constexpr var at_positions(shape dims, var ids) {
  return equal(cast(iota(*ids.g, dims, -1), ids.type()), ids);
}

template <int Axis>
struct iota_fn {
  constexpr var operator()(var like) const { return iota(*like.g, like.dims(), Axis); }
};
}  // namespace detail

template <int Axis, handle X>
constexpr auto iota(X const& like) {
  return lift<detail::iota_fn<Axis>>(like);
}

}  // namespace tx
