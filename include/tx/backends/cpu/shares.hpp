// How many pieces the work of a kernel is cut into.
#pragma once

#include <cstdint>

namespace tx::backends::cpu {

// Work is cut into this many shares whatever the number of threads, so results do not depend on it.
inline constexpr int shares = 16;
// Where share `share` of n items begins.
constexpr std::int64_t share_begin(std::int64_t n, int share) { return n * share / shares; }
// The same of rows that are cut at whole tiles.
constexpr std::int64_t share_begin(std::int64_t rows, int share, std::int64_t tile) {
  std::int64_t const begin = share_begin((rows + tile - 1) / tile, share) * tile;
  return begin < rows ? begin : rows;
}

}  // namespace tx::backends::cpu
