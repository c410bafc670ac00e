// CRC-32C (Castagnoli), the checksum of TFRecord files and of iSCSI: RFC 3720, 12.1 and B.4. The polynomial is
// 0x1edc6f41, reflected; a byte a turn, as records are short.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tx::io {

namespace detail {

// Entry b: what byte b does to the rest.
inline constexpr auto crc32c_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t rest = b;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0x82f63b78u : 0);
    table[b] = rest;
  }
  return table;
}();

}  // namespace detail

constexpr std::uint32_t crc32c_of(std::string_view bytes) {
  std::uint32_t rest = ~std::uint32_t{0};
  for (char const c : bytes) rest = (rest >> 8) ^ detail::crc32c_table[(rest ^ static_cast<unsigned char>(c)) & 0xff];
  return ~rest;
}

}  // namespace tx::io
