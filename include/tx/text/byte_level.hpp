// Texts cut as GPT-2 cuts them before bytes are paired: words with the space before them, numbers, signs, and what is blank
// (A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019; the tokenizer's regular expression).
//
//   "Hello  world's 12ab"  ->  "Hello", " ", " world", "'s", " 12", "ab"
#pragma once

#include <tx/io/utf8.hpp>
#include <tx/text/character_kinds.hpp>
#include <tx/text/paged_table.hpp>

#include <span>
#include <string_view>

namespace tx::text {

namespace detail {

enum class character_kind : std::uint8_t { sign, letter, number, blank };

inline character_kind kind_of(char32_t c) {
  static paged_table<character_kind> const table = [] {
    std::vector<character_kind> all(0x110000, character_kind::sign);
    auto const set = [&](std::span<code_range const> ranges, character_kind kind) { for_each_point(ranges, [&](char32_t p) { all[p] = kind; }); };
    set(letter_ranges, character_kind::letter);
    set(number_ranges, character_kind::number);
    set(blank_ranges, character_kind::blank);
    return paged_table<character_kind>(all);
  }();
  return table[c];
}

// How many bytes of what begins with an apostrophe are an English contraction's end; 0: none.
inline std::size_t contraction(std::string_view text) {
  for (std::string_view const end : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(end)) return end.size();
  return 0;
}

}  // namespace detail

// Calls each(piece) for the pieces of a text, in order; together they are the text. Bytes that are not UTF-8 count as signs and stay as they are.
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
template <class Each>
void for_each_piece(std::string_view text, Each&& each) {
  using detail::character_kind;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t at = start;
    auto const next = [&] { return io::decode_utf8(text, at); };
    if (std::size_t const length = text[at] == '\'' ? detail::contraction(text.substr(at)) : 0; length > 0) {
      each(text.substr(start, length));
      start += length;
      continue;
    }
    if (text[at] == ' ' && at + 1 < text.size()) ++at;
    character_kind const kind = detail::kind_of(next().value);
    if (kind == character_kind::blank) at = start;
    std::size_t last = at;  // where the last character begins
    while (at < text.size()) {
      auto const c = next();
      if (detail::kind_of(c.value) != kind) break;
      last = at;
      at += c.length;
    }
    // Of what is blank before something else, the last character goes with that, or stays alone.
    if (kind == character_kind::blank && at < text.size() && last > start) at = last;
    each(text.substr(start, at - start));
    start = at;
  }
}

}  // namespace tx::text
