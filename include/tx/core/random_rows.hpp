// The rows that random numbers are counted in: those of an operand among the rows of the whole batch.
#pragma once

#include <tx/config.hpp>

#include <cstdint>

namespace tx {

// Where ranks divide an axis of the operand, of each `all` neighbouring rows of the undivided one this rank has `own`, from `first` on.
//
//   of [2, 4, 3, 5], two of the four heads each, the second rank's:  own 6, all 12;  rows 0 to 5 are 6 to 11, rows 6 to 11 are 18 to 23
struct random_rows {
  std::uint64_t first = 0;
  std::uint32_t own = 0, all = 0;  // 0: rows follow each other

  TX_HD std::uint64_t operator()(std::int64_t row) const {
    auto const r = static_cast<std::uint64_t>(row);
    return first + (own == 0 ? r : r / own * all + r % own);
  }
};

}  // namespace tx
