// Ranges of byte-level tokens without the spaces at their ends, as tokenizers trims them (trim_offsets).
#pragma once

#include <tx/text/text_changes.hpp>

#include <cstddef>
#include <string_view>

namespace tx::text::detail {

// How many characters at a token's ends are blank.
struct blank_ends {
  std::size_t leading = 0, trailing = 0;
};

inline blank_ends blank_ends_of_bytes(std::string_view token) {
  std::size_t const first = token.find_first_not_of(' ');
  if (first == std::string_view::npos) return {token.size(), token.size()};
  return {first, token.size() - 1 - token.find_last_not_of(' ')};
}

// Of a token that is found as it is written. U+0120 is what a space is called in byte-level vocabularies.
inline blank_ends blank_ends_of_text(std::string_view token) {
  blank_ends out;
  bool all = true;
  for (std::size_t i = 0; i < token.size();) {
    auto const c = io::decode_utf8(token, i);
    bool const blank = c.value == 0x120 || is_white(c.value);
    all = all && blank;
    out.leading += all;
    out.trailing = blank ? out.trailing + 1 : 0;
    i += c.length;
  }
  return out;
}

// first: whether it is the first token of a text before which a space is put, which is then not trimmed.
inline text_range trimmed(text_range r, blank_ends blank, std::string_view text, bool first) {
  if (blank.leading == 1 && first) blank.leading = 0;
  for (std::size_t k = blank.leading; k > 0 && r.begin < r.end; --k) r.begin = std::min(r.begin + io::decode_utf8(text, r.begin).length, r.end);
  std::size_t end = r.end, left = blank.trailing;
  for (; left > 0 && end > 0; --left)
    do --end;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  if (left == 0) r.end = std::max(end, r.begin);
  return r;
}

}  // namespace tx::text::detail
