// A side of a product, as a block reads it.
#pragma once

#include <tx/backends/device/vocabulary.hpp>

#include <cstddef>
#include <cstdint>

namespace tx::backends::device {

// A line is a row of the left side or a column of the right one, from the tile's first on. Distances are in elements.
struct product_side {
  std::byte const* at;
  std::int64_t start;  // of the first line
  std::int64_t line;   // from one line to the next
  std::int64_t depth;  // from one element of a line to the next
  std::int64_t lines;  // that there are
  bool wide;           // 16 bytes may be read at once, along whichever of both is 1

  TX_DEVICE bool along() const { return depth == 1; }  // a line's elements lie side by side; else those of neighbouring lines may
};

}  // namespace tx::backends::device
