// How many pieces the work of a kernel is cut into.
#pragma once

#include <cstdint>

namespace tx::backends::cpu {

// Work is cut into this many shares whatever the number of threads, so results do not depend on it.
inline constexpr int shares = 16;
// Where share `share` of n items begins.
constexpr std::int64_t share_begin(std::int64_t n, int share) { return n * share / shares; }

}  // namespace tx::backends::cpu
