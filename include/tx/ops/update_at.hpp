// update_at<Axis>(x, values, start): x with values in place of its elements along an axis from one that is known when the program runs. start:
// an integer without extents. x [A, E, B], values [A, L, B] -> [A, E, B] for Axis 1.
//   cache.set(tx::update_at<1>(cache, keys, position));   // of a tx::state only what is new is written, whatever its size
// Errors: an argument with a start outside [0, E - L] is refused before the step runs; of one that the program computes, values that have
// no place are left out. An axis there is not, more values than it has, a bounded axis, other extents or another element type.
#pragma once

#include <tx/ops/slice_at.hpp>

namespace tx {

constexpr var update_at(var x, var values, var start, int axis) {
  axis = detail::named_axis(x.dims(), axis, "update_at: the tensor has no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1");
  std::int64_t const count = axis < values.dims().rank ? values.dims().dim[axis] : 0;  // the shape rule says what is wrong
  return emit(update_at_info, {x, values, detail::checked_start(x.dims(), count, start, axis)}, attributes{{axis}});
}

namespace detail {
template <int Axis>
struct update_at_fn {
  constexpr var operator()(var x, var values, var start) const { return update_at(x, values, start, Axis); }
};
}  // namespace detail

template <int Axis, handle X, handle V, handle Start>
constexpr auto update_at(X const& x, V const& values, Start const& start) {
  return lift<detail::update_at_fn<Axis>>(x, values, start);
}

}  // namespace tx
