// Visible characters that stand for bytes in byte-level vocabularies: printable ones of Latin-1 for themselves, U+0100 and on for the others, in order.
//
//   " the"  ->  "Ġthe"
#pragma once

#include <tx/io/utf8.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tx::text::detail {

inline constexpr std::array<char32_t, 256> byte_names = [] {
  std::array<char32_t, 256> table{};
  char32_t next = 0x100;
  for (char32_t b = 0; b < 256; ++b) {
    bool const itself = (b > 0x20 && b < 0x7F) || (b > 0xA0 && b != 0xAD);
    table[b] = itself ? b : next++;
  }
  return table;
}();

inline std::string name_of_bytes(std::string_view bytes) {
  std::string out;
  for (char const b : bytes) io::append_utf8(out, byte_names[static_cast<unsigned char>(b)]);
  return out;
}

// Nothing where a character stands for no byte.
inline std::optional<std::string> bytes_of_name(std::string_view name) {
  static constexpr std::array<std::int16_t, 0x144> byte_of = [] {
    std::array<std::int16_t, 0x144> table{};
    table.fill(-1);
    for (std::size_t b = 0; b < 256; ++b) table[byte_names[b]] = static_cast<std::int16_t>(b);
    return table;
  }();
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    auto const c = io::decode_utf8(name, i);
    if (c.value >= byte_of.size() || byte_of[c.value] < 0) return std::nullopt;
    out.push_back(static_cast<char>(byte_of[c.value]));
    i += c.length;
  }
  return out;
}

}  // namespace tx::text::detail
