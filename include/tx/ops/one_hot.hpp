// one_hot<Classes, T>(ids): 1 at the position that an id names, else 0. [...] -> [..., Classes], elements of type T.
// Errors: an argument with an id outside [0, Classes) is refused before the step runs; one that the program computes
// names nothing.
#pragma once

#include <tx/ops/cast.hpp>
#include <tx/ops/equal.hpp>
#include <tx/ops/in_range.hpp>
#include <tx/ops/iota.hpp>

namespace tx {

namespace detail {
template <int Classes, dtype To>
struct one_hot_fn {
  static_assert(Classes > 0, "tx::one_hot: there is at least one class. FIX: one_hot<N> with N of at least 1");

  constexpr var operator()(var ids) const {
    shape wide = ids.dims();
    if (wide.rank == max_rank)
      throw invalid("one_hot: the result would have too many axes. FIX: reshape the ids to fewer");
    wide.dim[wide.rank++] = Classes;
    shape column = wide;
    column.dim[column.rank - 1] = 1;
    return cast(at_positions(wide, as_positions(reshape(in_range(ids, 0, Classes), column))), To);
  }
};
}  // namespace detail

template <int Classes, class T = f32, handle Ids>
constexpr auto one_hot(Ids const& ids) {
  return lift<detail::one_hot_fn<Classes, dtype_v<T>>>(ids);
}

}  // namespace tx
