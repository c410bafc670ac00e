// An extent, bounded or not, as an attribute of a node, and back.
#pragma once

#include <tx/core/quantity.hpp>

namespace tx::detail {

constexpr std::int64_t packed_extent(bounded b) { return static_cast<std::int64_t>(proportional(b.max, b.of)); }
constexpr bounded unpacked_extent(std::int64_t v) { return {static_cast<int>(most_of(exactly(v))), factors_of(exactly(v))}; }

}  // namespace tx::detail
