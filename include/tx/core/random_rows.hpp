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
  std::uint64_t inverse = 0;       // 2^64 / own, rounded up, by which kernels divide without division; 0 of 1

  static constexpr random_rows of(std::uint64_t first, std::uint32_t own, std::uint32_t all) { return {first, own, all, own < 2 ? 0 : ~std::uint64_t{0} / own + 1}; }

  TX_HD std::uint64_t operator()(std::int64_t row) const {
    auto const r = static_cast<std::uint64_t>(row);
    if (own == 0) return first + r;
    // r / own of r below 2^32 (Granlund and Montgomery 1994), in two products of halves.
    std::uint64_t const part = inverse == 0 ? r : (r * (inverse >> 32) + (r * (inverse & 0xffff'ffffu) >> 32)) >> 32;
    return first + part * all + (r - part * own);
  }
};

}  // namespace tx
