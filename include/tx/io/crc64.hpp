// CRC-64/XZ, which finds every change within 64 bits that follow each other, and others but for one in 2^64. The
// polynomial is that of ECMA-182, reflected; eight bytes a turn.
#pragma once

#include <tx/io/crc_table.hpp>
#include <tx/io/files.hpp>

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace tx::io {

namespace detail {

inline constexpr auto crc64_tables = crc_tables<8>(std::uint64_t{0xc96c5795d7870f42u});

}  // namespace detail

class crc64 {
 public:
  // Bytes after those added before; how they are divided does not matter.
  void add(std::span<std::byte const> bytes) {
    static_assert(std::endian::native == std::endian::little, "eight bytes are read as one number");
    auto const& table = detail::crc64_tables;
    std::uint64_t rest = rest_;
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
      std::uint64_t eight;
      std::memcpy(&eight, bytes.data(), 8);
      rest ^= eight;
      rest = table[7][rest & 0xff] ^ table[6][(rest >> 8) & 0xff] ^ table[5][(rest >> 16) & 0xff] ^
             table[4][(rest >> 24) & 0xff] ^ table[3][(rest >> 32) & 0xff] ^ table[2][(rest >> 40) & 0xff] ^
             table[1][(rest >> 48) & 0xff] ^ table[0][rest >> 56];
    }
    for (std::byte const b : bytes) rest = (rest >> 8) ^ table[0][(rest ^ static_cast<std::uint64_t>(b)) & 0xff];
    rest_ = rest;
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  std::uint64_t value() const { return ~rest_; }

 private:
  std::uint64_t rest_ = ~std::uint64_t{0};
};

// 16 of them, as checksums are written in files.
inline std::string hex_digits(std::uint64_t v) {
  char text[16];
  std::string const digits(text, std::to_chars(text, text + 16, v, 16).ptr);
  return std::string(16 - digits.size(), '0') + digits;
}

template <class Bytes>
std::uint64_t crc64_of(Bytes const& bytes) {
  crc64 sum;
  sum.add(bytes);
  return sum.value();
}

// How long a file is and its checksum, a piece at a time. Throws io_error.
struct file_sum {
  std::uint64_t bytes = 0;
  std::uint64_t crc64 = 0;
  friend bool operator==(file_sum const&, file_sum const&) = default;
};
inline file_sum sum_file(std::filesystem::path const& path) {
  file_handle file(path, O_RDONLY, "read");
  std::vector<std::byte> piece(std::size_t{1} << 20);
  crc64 sum;
  std::uint64_t bytes = 0;
  while (std::size_t const got = file.read_some(piece)) {
    sum.add(std::span(piece).first(got));
    bytes += got;
  }
  return {bytes, sum.value()};
}

}  // namespace tx::io
