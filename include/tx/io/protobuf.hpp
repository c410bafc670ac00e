// Fields of a Protocol Buffers message, by hand: a key, which is the field's number and its wire type, then the value
// (protobuf.dev, "Encoding").
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tx::io {

namespace detail {

// The lowest byte first.
template <class Integer>
void append_little_endian(std::string& to, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) to += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
}

}  // namespace detail

class protobuf_message {
 public:
  void integer(int field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
  }
  void number(int field, double value) {
    key(field, 1);
    detail::append_little_endian(bytes_, std::bit_cast<std::uint64_t>(value));
  }
  void number(int field, float value) {
    key(field, 5);
    detail::append_little_endian(bytes_, std::bit_cast<std::uint32_t>(value));
  }
  // Strings must be UTF-8.
  void text(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(int field, protobuf_message const& value) { text(field, value.bytes_); }

  std::string const& bytes() const { return bytes_; }

 private:
  void key(int field, unsigned wire_type) { varint((static_cast<std::uint64_t>(field) << 3) | wire_type); }
  // Seven bits a byte, the lowest first; the highest bit says that there are more.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(static_cast<unsigned char>(value | 0x80));
    bytes_ += static_cast<char>(static_cast<unsigned char>(value));
  }

  std::string bytes_;
};

}  // namespace tx::io
