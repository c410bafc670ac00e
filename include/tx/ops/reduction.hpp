// What a loss makes of its terms, one for each element: themselves, their mean, their sum, or their sum over the extent
// of axis 0.
#pragma once

#include <tx/ops/mean.hpp>

namespace tx {

enum class reduction { none, mean, sum, batch_mean };

namespace detail {

template <reduction R>
constexpr var reduced(var terms) {
  if constexpr (R == reduction::none) {
    return terms;
  } else if constexpr (R == reduction::mean) {
    return mean_fn<>{}(terms);
  } else {
    var const total = sum_all(terms);
    if constexpr (R == reduction::sum) return total;
    if (terms.dims().rank == 0 || terms.dims().is_bounded(0))
      throw invalid("reduction::batch_mean: axis 0 has no extent that is known while compiling. FIX: reduction::sum, and divide by the count");
    return total * (1.0 / terms.dims().dim[0]);
  }
}

// Broadcasting [batch, 1] against [batch] would compare everything with everything.
constexpr void check_compared(var prediction, var target) {
  if (!(prediction.dims() == target.dims()))
    throw invalid("a loss compares tensors of one shape. FIX: reshape the prediction or the target");
}

}  // namespace detail

}  // namespace tx
