// What an optimizer is: a struct, in the tree or outside, with
//
//   static constexpr int states                           numbers kept for each element, 0 to 4; at first zero
//   static constexpr tx::var update(tx::update_context&)  the parameter's next value; state[] becomes its next
//
// `update` is a graph function on whatever part of the parameters it is shown: one tensor, those of all iterations of a
// repeat [iterations, extents...], or a group as rows [rows, block_row]. One that needs a number for each tensor, such
// as a norm, also says
//
//   static constexpr bool whole_tensors = true
//
// and is shown whole tensors; update_context's norm, rms and mean are refused without it. Then it may keep less than a number for each element,
// one for each row, column or tensor (expr/state_layout.hpp), and state[k] has the extents of that: [iterations..., rows, 1] and so on.
//
//   static constexpr tx::state_kinds states{tx::per::row, tx::per::column}
//
// What its states mean is told by
//
//   static std::string identity()                         "adam(beta1 0.9, beta2 0.999)", see identity.hpp
//
// with the options that make other states of the same gradients, and no others. A checkpoint is refused by optimizers
// of another identity. Without it a number stands for what `update` records, so every change of `update` is another
// optimizer.
#pragma once

#include <tx/core/rank_grid.hpp>
#include <tx/dist/over_ranks.hpp>
#include <tx/dist/reduce_scatter.hpp>
#include <tx/expr/state_layout.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/identity.hpp>

#include <concepts>

namespace tx {

// The states that an optimizer has said it keeps, and no others.
struct optimizer_states {
  var items[max_states];
  bool none[max_states] = {};  // one per column, of a tensor without columns
  int count = 0;

  constexpr var& operator[](int k) {
    if (k < 0 || k >= count)
      throw invalid("an optimizer's update reads or writes a state[k] that it does not keep. FIX: `states` in the optimizer, above the largest k");
    if (none[k]) throw invalid("an optimizer's update reads or writes a state per column of a tensor of fewer than two axes. FIX: only where update_context::own_rank is 2 or more");
    return items[k];
  }
};

// What an optimizer sees of a tensor; state[] is replaced by its next value.
struct update_context {
  var parameter;
  var gradient;
  optimizer_states state;
  var rate;           // scalar
  var decay;          // scalar: what it does is the optimizer's
  var step;           // scalar: the update's number, from 1; of the parameter's type, as rate and decay are
  int own_rank = -1;  // axes of a tensor without those of repeats; -1: more than one may be shown
  tensor_portion portion{};

  // sqrt of the sum of squares of each tensor, also where ranks divide it: [iterations..., extents...] -> [iterations..., 1...]. They are added row by row, and then of the rows: one
  // order however many ranks have how many rows.
  constexpr var norm(var x) const {
    if (own_rank < 0)
      throw invalid("update_context::norm: of many tensors. FIX: whole_tensors = true in the optimizer");
    var squares = x * x;
    int const rows = x.dims().rank - own_rank;
    int axes[max_rank] = {};
    for (int k = 0; k + 1 < own_rank; ++k) axes[k] = rows + 1 + k;
    if (own_rank > 1) squares = sum(squares, axes, own_rank - 1);
    if (portion.axis == rows && portion.ranks.which == across::batches) squares = all_gather(squares, rows, portion.ranks, portion.rows);
    if (own_rank > 0) squares = sum(squares, &rows, 1);
    if (portion.axis >= 0 && portion.ranks.which == across::products) squares = sum_over_ranks(squares, across::products);
    return sqrt(squares);
  }
  // sqrt of the mean of squares of each tensor, likewise.
  constexpr var rms(var x) const {
    var const length = norm(x);
    std::int64_t each = length.info().count() > 0 ? x.info().count() / length.info().count() : 0;
    if (portion.axis >= 0) each = each / x.dims().dim[portion.axis] * portion.rows;
    return each > 0 ? length * (1 / math::sqrt(static_cast<double>(each))) : length;
  }
  // The mean along an axis of each tensor, -1 its last one: -2 of [iterations..., a, b] -> [iterations..., 1, b]
  constexpr var mean(var x, int axis) const {
    if (own_rank < 0)
      throw invalid("update_context::mean: of many tensors. FIX: whole_tensors = true in the optimizer");
    if (axis >= 0 || axis < -own_rank)
      throw invalid("update_context::mean: each tensor has no such axis. FIX: -1 for the last one, down to -own_rank");
    if (portion.axis >= 0) throw invalid("update_context::mean: ranks have portions of the tensor. FIX: an optimizer with norms alone, or no zero and no tensor_parallel");
    int const extent = x.dims()[axis];
    return extent > 0 ? sum(x, &axis, 1) * (1.0 / extent) : sum(x, &axis, 1);
  }
  // The gradient of loss + decay / 2 * (sum of squares of the parameter).
  constexpr var decayed_gradient() const { return gradient + parameter * decay; }
};

template <class O>
concept optimizer = requires(update_context& u) {
  { O::states } -> std::convertible_to<state_kinds>;
  { O::update(u) } -> std::same_as<var>;
};

namespace detail {
template <class O>
inline constexpr bool sees_whole_tensors = requires {
  requires O::whole_tensors;
};
}  // namespace detail

}  // namespace tx
