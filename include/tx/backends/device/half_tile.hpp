// Tiles of halves in shared memory, as units for matrices read them: rows of chunks of 16 bytes, which change places within a row by its number, so
// that eight rows' chunks of one place lie in different banks.
#pragma once

#include <tx/backends/device/vocabulary.hpp>

#include <cstddef>
#include <cstdint>

namespace tx::backends::device {

inline constexpr int chunk = 8;  // halves of 16 bytes

TX_DEVICE inline int chunk_at(int row, int row_bytes, int number) { return row * row_bytes + ((number ^ (row % 8)) * 16); }

// Where a lane finds its rows of what its warp multiplies, 16 lines times 16 of the depth at a time. Along: a row of the tile is a line, else it is lines'
// elements of one depth. In what is loaded of the left side the second matrix is lines 8 to 15, of the right one depths 8 to 15: a unit's
// operands are neighbouring registers.
template <bool Along, bool Right, int RowBytes>
class tile_rows {
 public:
  TX_DEVICE tile_rows(int first_line, int lane) {
    int const low = lane % 8, second = lane / 8 % 2, third = lane / 16;
    int const lines_on = Right ? third : second, deeper = Right ? second : third;  // by eight
    low_ = low;
    start_ = Along ? (first_line + low + 8 * lines_on) * RowBytes : (low + 8 * deeper) * RowBytes;
    number_ = Along ? deeper : first_line / chunk + lines_on;
  }
  // Lines 16 * line and on, depths 16 * depth and on.
  template <class Block>
  TX_DEVICE matrices load(Block& b, std::byte const* tile, int line, int depth) const {
    int const by_row = (Along ? line : depth) * 16 * RowBytes, by_chunk = 2 * (Along ? depth : line);
    return b.template load_matrices<!Along>(tile + start_ + by_row + (((by_chunk + number_) ^ low_) * 16));
  }

 private:
  int low_, start_, number_;
};

}  // namespace tx::backends::device
