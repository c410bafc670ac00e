// UTF-8 decoding and checking, by the Unicode standard's table of well-formed byte sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tx::io {

inline constexpr char32_t replacement_character = 0xFFFD;

struct code_point {
  char32_t value;      // U+FFFD where the bytes are not UTF-8
  std::size_t length;  // bytes it takes up, at least 1
  bool valid;
};

// Decodes the code point at `at`, which must be below text.size(). A broken sequence yields U+FFFD and the length of
// its longest well-formed beginning, so that the next call starts at the first byte that could begin a code point.
inline code_point decode_utf8(std::string_view text, std::size_t at) {
  auto const byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  unsigned const lead = byte(0);
  if (lead < 0x80) return {static_cast<char32_t>(lead), 1, true};
  std::size_t const length = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 1;
  if (length == 1) return {replacement_character, 1, false};
  // The second byte's range excludes over-long forms, surrogates and everything past U+10FFFF.
  unsigned const low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned const high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return {replacement_character, 1, false};
  unsigned value = lead & (0x7Fu >> length);
  value = (value << 6) | (byte(1) & 0x3Fu);
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return {replacement_character, i, false};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  return {static_cast<char32_t>(value), length, true};
}

// Appends a code point, which must be a scalar value (no surrogate, at most U+10FFFF).
inline void append_utf8(std::string& out, char32_t point) {
  auto const put = [&](char32_t bits) { out.push_back(static_cast<char>(static_cast<unsigned char>(bits))); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | (point >> 6));
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3F));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

inline bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    code_point const c = decode_utf8(text, i);
    if (!c.valid) return false;
    i += c.length;
  }
  return true;
}

// The same text; bytes that are not UTF-8 become U+FFFD.
inline std::string valid_utf8(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    code_point const c = decode_utf8(text, i);
    append_utf8(out, c.value);
    i += c.length;
  }
  return out;
}

// A JSON string literal; bytes that are not UTF-8 become U+FFFD.
inline std::string json_string(std::string_view text) {
  constexpr char const* digits = "0123456789abcdef";
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    code_point const c = decode_utf8(text, i);
    i += c.length;
    if (c.value == '"' || c.value == '\\') {
      out += '\\';
      out += static_cast<char>(c.value);
    } else if (c.value < 0x20) {
      out += "\\u00";
      out += digits[c.value >> 4];
      out += digits[c.value & 15];
    } else {
      append_utf8(out, c.value);
    }
  }
  return out + '"';
}

// What a foreign name looks like in a message: quoted, cut after `most` bytes, without control or broken characters.
inline std::string shown(std::string_view name, std::size_t most = 60) {
  std::string out = "'";
  for (std::size_t i = 0; i < name.size();) {
    if (i >= most) {
      out += "...";
      break;
    }
    code_point const c = decode_utf8(name, i);
    if (c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0)) {
      out += '?';
    } else {
      append_utf8(out, c.value);
    }
    i += c.length;
  }
  return out + "'";
}

}  // namespace tx::io
