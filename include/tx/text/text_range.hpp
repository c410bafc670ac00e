// Where a token lies in its text, and texts on their way from what is written to what a vocabulary is of.
#pragma once

#include <tx/io/utf8.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tx::text {

// Bytes of a text, from `begin` up to `end`.
struct text_range {
  std::size_t begin = 0, end = 0;

  bool operator==(text_range const&) const = default;
};

// The tokens of a text as they are found. `ranges` has one of each id where they were asked for, and is empty otherwise.
struct token_list {
  std::vector<std::int32_t> ids;
  std::vector<text_range> ranges;
};

namespace detail {

// A part of a changed text. origins: of each byte, the range of what is written that it comes from; null where nobody asks.
struct text_slice {
  std::string_view bytes;
  text_range const* origins = nullptr;

  text_slice sub(std::size_t from, std::size_t count) const { return {bytes.substr(from, count), origins == nullptr ? nullptr : origins + from}; }
  // Of bytes that are there, at least one.
  text_range range(std::size_t from, std::size_t end) const { return {origins[from].begin, origins[end - 1].end}; }
};

struct changed_text {
  std::string bytes;
  std::vector<text_range> origins;

  void clear() {
    bytes.clear();
    origins.clear();
  }
  void put(std::string_view more, text_range from) {
    bytes += more;
    origins.insert(origins.end(), more.size(), from);
  }
  text_slice slice(bool traced) const { return {bytes, traced ? origins.data() : nullptr}; }
};

inline bool is_ascii(std::string_view text) {
  unsigned all = 0;
  for (char const c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

// What is written, whose first byte is number `begin` of the whole text: bytes that are not UTF-8 have become U+FFFD.
inline text_slice written_text(std::string_view text, std::size_t begin, bool traced, changed_text& room) {
  if (!traced && (is_ascii(text) || io::is_utf8(text))) return {text, nullptr};
  room.clear();
  for (std::size_t i = 0; i < text.size();) {
    io::code_point const c = io::decode_utf8(text, i);
    if (c.valid) room.bytes += text.substr(i, c.length);
    else io::append_utf8(room.bytes, c.value);
    if (traced) room.origins.resize(room.bytes.size(), {begin + i, begin + i + c.length});
    i += c.length;
  }
  return room.slice(traced);
}

}  // namespace detail
}  // namespace tx::text
