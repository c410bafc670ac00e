#include <tx/io/crc64.hpp>

#include <catch2/catch.hpp>

#include <string>

#include "temp_folder.hpp"

namespace {

// Bit by bit, as the polynomial says.
std::uint64_t bitwise(std::string const& text) {
  std::uint64_t rest = ~std::uint64_t{0};
  for (char const c : text) {
    rest ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) rest = (rest & 1) != 0 ? (rest >> 1) ^ 0xc96c5795d7870f42u : rest >> 1;
  }
  return ~rest;
}

std::string some_text(std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 7);
  return text;
}

}  // namespace

TEST_CASE("the checksum is CRC-64/XZ") {
  CHECK(tx::io::crc64_of(std::string_view("123456789")) == 0x995dc9bbdf1939fau);  // the catalogue's check value
  CHECK(tx::io::crc64_of(std::string_view{}) == 0);
  for (std::size_t size = 0; size < 40; ++size)
    CHECK(tx::io::crc64_of(std::string_view(some_text(size))) == bitwise(some_text(size)));
}

TEST_CASE("a checksum depends on the bytes, not on how they are handed in") {
  std::string const text = some_text(100);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    tx::io::crc64 sum;
    sum.add(std::string_view(text).substr(0, cut));
    sum.add(std::string_view(text).substr(cut));
    REQUIRE(sum.value() == bitwise(text));
  }
}

TEST_CASE("a file's length and checksum") {
  temp_folder folder;
  std::string const text = some_text(3'000'001);  // several pieces
  tx::io::write_file_atomic(folder / "a", text);
  CHECK(tx::io::sum_file(folder / "a") == tx::io::file_sum{text.size(), tx::io::crc64_of(std::string_view(text))});
  CHECK_THROWS_AS(tx::io::sum_file(folder / "none"), tx::io_error);
}
