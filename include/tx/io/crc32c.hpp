// CRC-32C (Castagnoli), the checksum of TFRecord files and of iSCSI: RFC 3720, 12.1 and B.4. The polynomial is
// 0x1edc6f41, reflected; a byte a turn, as records are short.
#pragma once

#include <tx/io/crc_table.hpp>

#include <cstdint>
#include <string_view>

namespace tx::io {

namespace detail {

inline constexpr auto crc32c_table = crc_tables<1>(std::uint32_t{0x82f63b78u})[0];

}  // namespace detail

constexpr std::uint32_t crc32c_of(std::string_view bytes) {
  std::uint32_t rest = ~std::uint32_t{0};
  for (char const c : bytes) rest = (rest >> 8) ^ detail::crc32c_table[(rest ^ static_cast<unsigned char>(c)) & 0xff];
  return ~rest;
}

}  // namespace tx::io
