// Shapes of what the iterations of a loop hand out, an iteration after the other, and back.
//
//   stacked([4, 8], 3) is [3, 4, 8], unstacked([3, 4, 8]) is [4, 8]
#pragma once

#include <tx/graph/op_info.hpp>

namespace tx::detail {

constexpr value_info stacked(value_info const& one, shape const& stack) {
  if (one.dims.rank + stack.rank > max_rank)
    throw invalid("a value of a repeated block, or of a shard, has as many axes as a tensor may have, and no room for one of the iterations. FIX: merge some with reshape");
  value_info out{one.type, stack};
  for (int i = 0; i < one.dims.rank; ++i) out.dims.add(one.dims.at(i));
  return out;
}

constexpr value_info stacked(value_info const& one, int iterations) { return stacked(one, shape{1, {}, {iterations}}); }

// One slice along the leading axis.
constexpr value_info unstacked(value_info const& all) { return {all.type, all.dims.inner()}; }

}  // namespace tx::detail
