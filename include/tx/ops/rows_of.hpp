// How many rows of a bounded axis there are: a number that is known when the program runs.
#pragma once

#include <tx/ops/broadcast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/sum.hpp>

namespace tx::detail {

// x: its leading axis is bounded. -> scalar of x's type
constexpr var rows_of(var x) {
  shape rows{};
  rows.dim[rows.rank++] = x.dims().dim[0];
  rows.tag = x.dims().tag;
  return reshape(sum_fn<>{}(broadcast_to(constant(*x.g, x.type(), 1.0), rows)), shape{});
}

}  // namespace tx::detail
