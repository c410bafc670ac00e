// Tables for cyclic redundancy checks with reflected polynomials, several bytes a turn (M. Kounavis and F. Berry, A
// systematic approach to building high performance, software-based, CRC generators, 2005).
#pragma once

#include <array>
#include <cstddef>

namespace tx::io::detail {

// Entry [k][b]: what byte b does to the rest, k bytes later.
template <std::size_t Bytes, class Rest>
constexpr auto crc_tables(Rest polynomial) {
  std::array<std::array<Rest, 256>, Bytes> table{};
  for (std::size_t b = 0; b < 256; ++b) {
    auto rest = static_cast<Rest>(b);
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? polynomial : 0);
    table[0][b] = rest;
  }
  for (std::size_t k = 1; k < Bytes; ++k)
    for (std::size_t b = 0; b < 256; ++b) table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 0xff];
  return table;
}

}  // namespace tx::io::detail
