// Where buffers start.
#pragma once

#include <cstdint>

namespace tx::exec {

// Buffers start at multiples of this many bytes.
inline constexpr std::int64_t alignment = 64;
constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace tx::exec
