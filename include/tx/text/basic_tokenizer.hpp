// BERT's basic tokenizer: text to words and punctuation marks, as Hugging Face's BertNormalizer and BertPreTokenizer make them.
#pragma once

#include <tx/io/utf8.hpp>
#include <tx/text/bert_characters.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tx::text {

// Longer words are not looked at: WordPiece makes them [UNK].
inline constexpr std::size_t max_word_characters = 100;

namespace detail {

// A word as it grows.
class growing_word {
 public:
  void put(char32_t c) {
    if (++characters_ <= max_word_characters) io::append_utf8(text_, c);
  }
  void put_ascii(char c) {
    if (++characters_ <= max_word_characters) text_.push_back(c);
  }
  bool empty() const { return characters_ == 0; }
  // Hands the word to each(word, characters), if there is one, and begins the next. False if it says so.
  template <class Each>
  bool end(Each& each) {
    if (empty()) return true;
    bool const more = each(std::string_view(text_), characters_);
    text_.clear();
    characters_ = 0;
    return more;
  }

 private:
  std::string text_;
  std::size_t characters_ = 0;
};

// A syllable's leading consonant, vowel and, if it has one, trailing consonant.
inline void put_hangul(char32_t syllable, growing_word& to) {
  char32_t const at = syllable - 0xAC00;
  to.put(0x1100 + at / 588);
  to.put(0x1161 + at % 588 / 28);
  if (at % 28 != 0) to.put(0x11A7 + at % 28);
}

// Marks that follow each other from text[i] on, in the order of their canonical classes; `first` have been read already, without `i`.
// Returns where the text goes on.
inline std::size_t put_marks(std::u32string marks, std::string_view text, std::size_t i, bert_characters const& table, growing_word& to) {
  while (i < text.size()) {
    io::code_point const c = io::decode_utf8(text, i);
    auto const e = table[c.value];
    if (e.what != fate::mark && e.what != fate::removed) break;
    if (e.what == fate::mark) marks.push_back(e.value);
    i += c.length;
  }
  std::ranges::stable_sort(marks, {}, bert_characters::order_of);
  for (char32_t const m : marks) to.put(m);
  return i;
}

}  // namespace detail

// Calls each(word, characters) for the words of a text, in order, until it returns false. A word over
// max_word_characters arrives cut off, with the count it would have had. Bytes that are not UTF-8 count as U+FFFD.
template <class Each>
void for_each_word(std::string_view text, detail::bert_characters const& table, Each&& each) {
  using detail::fate;
  detail::growing_word word;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t const here = i;
    auto const byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80)
      if (char const letter = table.ascii(byte)) {
        if (letter != ' ') word.put_ascii(letter);
        else if (!word.end(each)) return;
        ++i;
        continue;
      }
    io::code_point const c = byte < 0x80 ? io::code_point{byte, 1, true} : io::decode_utf8(text, i);
    i += c.length;
    auto const e = table[c.value];
    switch (e.what) {
      case fate::letter: word.put(e.value); break;
      case fate::removed:
      case fate::blocks: break;
      case fate::space:
        if (!word.end(each)) return;
        break;
      case fate::word:
        if (!word.end(each)) return;
        word.put(e.value);
        if (!word.end(each)) return;
        break;
      case fate::mark: i = detail::put_marks({}, text, here, table, word); break;
      case fate::hangul: detail::put_hangul(e.value, word); break;
      case fate::several: {
        std::u32string marks;
        for (char32_t const part : table.list(e.value)) {
          if (part == 0) break;
          if (table.rules().strip_accents && detail::bert_characters::order_of(part) != 0) marks.push_back(part);
          else word.put(part);
        }
        if (!marks.empty()) i = detail::put_marks(std::move(marks), text, i, table, word);
        break;
      }
    }
  }
  word.end(each);
}
// As uncased models split.
template <class Each>
void for_each_word(std::string_view text, Each&& each) {
  for_each_word(text, detail::bert_characters::uncased(), each);
}

}  // namespace tx::text
