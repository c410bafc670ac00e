// Switches of the compiler; the defaults are what everyone wants, the others are for tests.
#pragma once

#include <cstdint>

namespace tx {

struct compile_options {
  bool fuse = true;
  bool reorder = true;  // off: kernels run in the order of recording
  std::int64_t band_bytes = -1;  // of values handed from product to product, at a time (passes/bands.hpp); -1: as the target says

  constexpr bool operator==(compile_options const&) const = default;
};

}  // namespace tx
