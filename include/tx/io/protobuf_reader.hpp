// Fields of a Protocol Buffers message, read one after the other within its bytes (protobuf.dev, "Encoding").
#pragma once

#include <tx/core/error.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tx::io {

// source: what messages call the file; bytes that are read live as long as those handed over.
class protobuf_reader {
 public:
  protobuf_reader(std::string_view bytes, std::string_view source) : bytes_(bytes), source_(source) {}

  // Goes on to the next field; false behind the last one. Throws format_error for what is cut off or of a wire type that no file has any more.
  bool next() {
    if (at_ == bytes_.size()) return false;
    std::uint64_t const key = varint();
    if (key >> 3 == 0 || key >> 3 >= std::uint64_t{1} << 29) fail("has a field number that there is not");
    field_ = static_cast<int>(key >> 3);
    wire_type_ = static_cast<unsigned>(key & 7);
    value_ = 0;
    content_ = {};
    if (wire_type_ == 0) value_ = varint();
    else if (wire_type_ == 1) value_ = fixed(8);
    else if (wire_type_ == 5) value_ = fixed(4);
    else if (wire_type_ == 2) content_ = take(varint());
    else fail("has a field of the wire type " + std::to_string(wire_type_));
    return true;
  }

  int field() const { return field_; }
  // What the field holds. Each throws format_error where it is of another wire type.
  std::uint64_t integer() const { return of(0, "no integer"), value_; }
  bool flag() const { return integer() != 0; }
  float number() const { return of(5, "no number of 32 bits"), std::bit_cast<float>(static_cast<std::uint32_t>(value_)); }
  std::string_view content() const { return of(2, "neither text nor a message"), content_; }
  protobuf_reader message() const { return {content(), source_}; }

 private:
  [[noreturn]] void fail(std::string const& what) const { throw format_error(std::string(source_) + ": the message " + what); }
  void of(unsigned wire_type, char const* otherwise) const {
    if (wire_type_ != wire_type) fail("has a field " + std::to_string(field_) + " that is " + otherwise);
  }

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) fail("is cut off");
    at_ += static_cast<std::size_t>(count);
    return bytes_.substr(at_ - static_cast<std::size_t>(count), static_cast<std::size_t>(count));
  }
  std::uint64_t fixed(std::size_t count) {
    std::uint64_t out = 0;
    std::string_view const from = take(count);
    for (std::size_t i = count; i-- > 0;) out = out << 8 | static_cast<unsigned char>(from[i]);
    return out;
  }
  // Seven bits a byte, the lowest first, at most ten of them.
  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      auto const byte = static_cast<unsigned char>(take(1)[0]);
      out |= std::uint64_t{byte & 0x7Fu} << (shift & 63);
      if (byte < 0x80) return out;
    }
    fail("has an integer of more than ten bytes");
  }

  std::string_view bytes_, source_;
  std::size_t at_ = 0;
  int field_ = 0;
  unsigned wire_type_ = 0;
  std::uint64_t value_ = 0;
  std::string_view content_{};
};

}  // namespace tx::io
