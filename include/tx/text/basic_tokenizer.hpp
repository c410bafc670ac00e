// BERT's basic tokenizer (uncased): text to lower-case words and punctuation marks.
#pragma once

#include <tx/io/utf8.hpp>
#include <tx/text/unicode.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tx::text {

// Longer words are not looked at: WordPiece makes them [UNK].
inline constexpr std::size_t max_word_characters = 100;

namespace detail {

// What becomes of an ASCII character: 0 dropped, 1 ends a word, 2 ends a word and is one itself, else the character to
// append.
inline constexpr auto ascii_actions = [] {
  std::array<char, 128> actions{};
  for (unsigned c = 0; c < 128; ++c) {
    bool const upper = c >= 'A' && c <= 'Z';
    bool const letter = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    bool const space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    actions[c] = letter ? static_cast<char>(upper ? c + 32 : c) : space ? '\1' : c > 0x20 && c < 0x7F ? '\2' : '\0';
  }
  return actions;
}();

}  // namespace detail

// Calls each(word, characters) for the words of a text, in order, until it returns false. A word over
// max_word_characters arrives cut off, with the count it would have had.
//
// Done: control, format and private use characters and U+FFFD are removed, bytes that are not UTF-8 count as U+FFFD;
// white space separates; ideographs and punctuation marks are words of their own; letters up to U+017F lose case and
// accents; combining accents are removed.
// Not done, unlike in BERT's reference: case and accents of letters beyond U+017F (Greek, Cyrillic, Vietnamese), the
// combining marks of other scripts, and decomposing Hangul. Such letters and marks stay as they are.
template <class Each>
void for_each_word(std::string_view text, Each&& each) {
  std::string word;
  std::size_t characters = 0;
  auto const append = [&](char32_t c) {
    if (++characters <= max_word_characters) io::append_utf8(word, c);
  };
  auto const end_word = [&] {
    if (characters == 0) return true;
    bool const more = each(std::string_view(word), characters);
    word.clear();
    characters = 0;
    return more;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (auto const byte = static_cast<unsigned char>(text[i]); byte < 0x80) {
      ++i;
      char const action = detail::ascii_actions[byte];
      if (action > 2) {
        if (++characters <= max_word_characters) word.push_back(action);
      } else if (action != 0) {
        if (!end_word()) return;
        if (action == 2 && !each(text.substr(i - 1, 1), std::size_t{1})) return;
      }
      continue;
    }
    io::code_point const c = io::decode_utf8(text, i);
    i += c.length;
    if (c.value == io::replacement_character || is_combining_accent(c.value) || is_control(c.value)) continue;
    if (is_space(c.value)) {
      if (!end_word()) return;
    } else if (is_cjk(c.value) || is_punctuation(c.value)) {
      if (!end_word()) return;
      append(c.value);
      if (!end_word()) return;
    } else {
      append(fold_latin(c.value));
    }
  }
  end_word();
}

}  // namespace tx::text
