// scatter_add<Axis>(x, ids, values): x, with each value added where its id says along an axis:
// y[i, ids[i, j, k], k] += values[i, j, k] for Axis 1. x [A, E, B], ids and values [A, L, B] -> [A, E, B].
// Values for one place are added in the order of the ids, whatever the number of threads, then to x.
// Errors: an argument with an id outside [0, E) is refused before the step runs; one that the program computes adds
// nothing. Bool; a bounded axis. Halves are added in f32.
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/gather.hpp>

namespace tx {

constexpr var scatter_add(var x, var ids, var values, int axis) {
  axis = detail::named_axis(x.dims(), axis,
                            "scatter_add: the tensor has no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1");
  if (!(values.dims() == ids.dims()))
    throw invalid("scatter_add: there is not one value for each id. FIX: broadcast_to equal extents");
  if (values.type() != x.type())
    throw invalid("scatter_add: element types differ. FIX: convert one side with cast<T>(x)");
  if (x.type() == dtype::boolean) throw invalid("scatter_add: elements are bool. FIX: cast<tx::i32>(x) first");
  detail::check_ids(x.info(), ids.info(), axis,
                    "scatter_add: the tensor and its ids differ beside the axis. FIX: broadcast_to equal extents");
  int const extent = x.dims().dim[axis];
  dtype const wide = sum_type(x.type());
  var const sums = emit(scatter_along_info, {cast(values, wide), in_range(ids, 0, extent)}, attributes{{axis, extent}});
  return cast(cast(x, wide) + sums, x.type());
}

namespace detail {
template <int Axis>
struct scatter_add_fn {
  constexpr var operator()(var x, var ids, var values) const { return scatter_add(x, ids, values, Axis); }
};
}  // namespace detail

template <int Axis, handle X, handle Ids, handle V>
constexpr auto scatter_add(X const& x, Ids const& ids, V const& values) {
  return lift<detail::scatter_add_fn<Axis>>(x, ids, values);
}

}  // namespace tx
