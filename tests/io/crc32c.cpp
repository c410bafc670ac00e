#include <tx/io/crc32c.hpp>

#include <catch2/catch.hpp>

#include <string>

TEST_CASE("the checksum is CRC-32C") {
  using tx::io::crc32c_of;
  CHECK(crc32c_of("123456789") == 0xe3069283u);  // the catalogue's check value
  CHECK(crc32c_of("") == 0);
  // RFC 3720, B.4
  std::string up, down;
  for (int i = 0; i < 32; ++i) {
    up += static_cast<char>(i);
    down += static_cast<char>(31 - i);
  }
  CHECK(crc32c_of(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(crc32c_of(std::string(32, '\xff')) == 0x62a8ab43u);
  CHECK(crc32c_of(up) == 0x46dd794eu);
  CHECK(crc32c_of(down) == 0x113fdb5cu);
  static_assert(crc32c_of("a") != crc32c_of("b"));
}
