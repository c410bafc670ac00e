// Which ranks a collective is of, as it stands in the attributes of each (core/rank_grid.hpp).
#pragma once

#include <tx/core/rank_grid.hpp>
#include <tx/graph/op_info.hpp>

namespace tx::detail {

// The last number, which no collective has another use for.
constexpr attributes with_across(attributes at, across which) {
  at.v[max_rank - 1] = static_cast<std::int64_t>(which);
  return at;
}
constexpr across across_of(attributes const& at) { return static_cast<across>(at.v[max_rank - 1]); }

}  // namespace tx::detail
