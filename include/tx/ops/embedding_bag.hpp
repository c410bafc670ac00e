// embedding_bag<Mode>(table [V, D], ids [..., L]) -> [..., D]: of each bag of rows the sum, the mean or the largest
// element of each column. embedding_bag(table, ids, weights [..., L]): the sum of the rows times their weights.
// Negative ids are empty places; an empty bag is 0. The sum without weights is embedding(table, ids), which makes no
// rows in between.
// Errors: as those of embedding; weights that are not one for each id.
#pragma once

#include <tx/ops/cast.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/take.hpp>
#include <tx/ops/where.hpp>

#include <limits>

namespace tx {

enum class bag_mode : std::uint8_t { sum, mean, max };

namespace detail {
// [...] -> [..., 1]
constexpr var as_column(var x) {
  shape to = x.dims();
  if (to.rank == max_rank)
    throw invalid("embedding_bag: ids have as many axes as a tensor may have. FIX: merge some with reshape");
  to.dim[to.rank++] = 1;
  return reshape(x, to);
}
// [..., 1, D] -> [..., D]
constexpr var without_last_but_one(var x) {
  shape to = x.dims();
  to.set(to.rank - 2, to.at(-1));
  to.set(--to.rank, 0);
  return reshape(x, to);
}

template <bag_mode Mode>
struct embedding_bag_fn {
  constexpr var operator()(var table, var ids) const {
    var const sums = embedding_fn{}(table, ids);  // it objects to wrong shapes
    if constexpr (Mode == bag_mode::sum) return sums;
    if (table.dims().bounds != 0)
      throw invalid("embedding_bag: a mean or maximum over a table with a bounded number of rows. FIX: bag_mode::sum, or a fixed one");
    var const places = as_positions(ids);
    var const named = logical_and(less_equal(0, places), less(places, table.dims().dim[0]));
    var const count = sum_fn<-1>{}(cast(named, table.type()));  // [..., 1]
    if constexpr (Mode == bag_mode::mean) return sums / maximum(count, 1);
    var const column = as_column(named);
    var const rows = where(column, take_fn{}(table, ids), -std::numeric_limits<double>::infinity());  // [..., L, D]
    return where(less(0, count), without_last_but_one(max_fn<-2>{}(rows)), 0.0);
  }
};
struct weighted_bag_fn {
  constexpr var operator()(var table, var ids, var weights) const {
    if (!(weights.dims() == ids.dims()) || weights.type() != table.type())
      throw invalid("embedding_bag: there is not one weight of the table's type for each id. FIX: weights in the shape of ids");
    shape row = ids.dims();  // [..., L] -> [..., 1, L]
    if (row.rank < 1 || row.rank == max_rank)
      throw invalid("embedding_bag: ids need one axis, and room for one more. FIX: reshape them");
    row.add(row.at(-1));
    row.set(row.rank - 2, 1);
    return cast(without_last_but_one(matmul(reshape(weights, row), take_fn{}(table, ids))), table.type());
  }
};
}  // namespace detail

template <bag_mode Mode = bag_mode::sum, handle T, handle I>
constexpr auto embedding_bag(T const& table, I const& ids) {
  return lift<detail::embedding_bag_fn<Mode>>(table, ids);
}
template <handle T, handle I, handle W>
constexpr auto embedding_bag(T const& table, I const& ids, W const& weights) {
  return lift<detail::weighted_bag_fn>(table, ids, weights);
}

}  // namespace tx
