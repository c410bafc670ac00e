// Division by a number that the host knows: a product and a shift, where a device takes some forty instructions to divide.
#pragma once

#include <tx/backends/device/vocabulary.hpp>

#include <bit>
#include <cstdint>

namespace tx::backends::device {

// Of numbers below 2^31 (Granlund and Montgomery, "Division by invariant integers using multiplication", PLDI 1994).
struct divider {
  std::uint32_t by = 1;
  std::uint32_t multiplier = 0, shift = 0;  // of by > 1

  divider() = default;
  explicit divider(std::uint32_t d) : by(d == 0 ? 1 : d) {
    if (d <= 1) return;
    unsigned const bits = 31 + static_cast<unsigned>(std::bit_width(d - 1));
    multiplier = static_cast<std::uint32_t>(((std::uint64_t{1} << bits) + d - 1) / d);
    shift = bits - 32;
  }

  TX_DEVICE std::uint32_t quotient(std::uint32_t n) const {
    return by == 1 ? n : static_cast<std::uint32_t>(static_cast<std::uint64_t>(n) * multiplier >> 32) >> shift;
  }
};

}  // namespace tx::backends::device
