// stack<Axis>(x...): tensors of one shape along a new axis. [3, 5], [3, 5] -> [2, 3, 5] for Axis 0, [3, 5, 2] for -1.
// Errors: what concat refuses; a rank that is already the largest.
#pragma once

#include <tx/ops/concat.hpp>
#include <tx/ops/reshape.hpp>

namespace tx {

namespace detail {
template <int Axis>
struct stack_fn {
  template <class... V>
  constexpr var operator()(V... v) const {
    return concat({with_axis(v)...}, Axis);
  }

 private:
  // [...] -> [..., 1, ...]
  static constexpr var with_axis(var x) {
    shape const from = x.dims();
    int const axis = Axis < 0 ? Axis + from.rank + 1 : Axis;
    if (from.rank == max_rank)
      throw invalid("stack: the tensors have as many axes as a tensor may have. FIX: concat, or merge axes with reshape");
    if (axis < 0 || axis > from.rank)
      throw invalid("stack: the result has no such axis. FIX: name one of 0 .. rank, or -rank-1 .. -1");
    shape to{};
    for (int i = 0; i <= from.rank; ++i) to.add(i < axis ? from.at(i) : i == axis ? bounded(1) : from.at(i - 1));
    return reshape(x, to);
  }
};
}  // namespace detail

template <int Axis, handle... X>
  requires(sizeof...(X) > 0)
constexpr auto stack(X const&... x) {
  return lift<detail::stack_fn<Axis>>(x...);
}

}  // namespace tx
