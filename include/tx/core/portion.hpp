// How ranks divide what they keep between them: each has a portion of the rows, as many as the others; what does not divide leaves the last ones fewer, or none.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tx {

// Rows that a rank has room for. Of many that do not divide, a multiple of eight, as units for matrices take columns of halves: of 50,257 words among 4 ranks 12,568.
constexpr std::int64_t rows_of_rank(std::int64_t rows, int ranks) {
  std::int64_t const each = (rows + ranks - 1) / ranks;
  return each * ranks == rows || each < 512 ? each : (each + 7) / 8 * 8;
}

struct portion {
  std::int64_t first = 0, count = 0;
};
// What rank number `rank` has of `count` of them, where each has room for `each`.
constexpr portion portion_of(std::int64_t count, std::int64_t each, int rank) {
  std::int64_t const first = std::min(count, each * rank);
  return {first, std::min(count - first, each)};
}

}  // namespace tx
