// Switches of the compiler; the defaults are what everyone wants, the others are for tests.
#pragma once

#include <cstdint>

namespace tx {

struct compile_options {
  bool fuse = true;
  bool schedule = true;  // off: kernels run in the order of recording
  std::int64_t band_bytes = std::int64_t{1} << 20;  // of values handed from product to product, at a time; see passes/bands.hpp

  constexpr bool operator==(compile_options const&) const = default;
};

}  // namespace tx
