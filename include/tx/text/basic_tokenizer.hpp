// BERT's basic tokenizer: text to words and punctuation marks, as Hugging Face's BertNormalizer and BertPreTokenizer make them.
#pragma once

#include <tx/io/utf8.hpp>
#include <tx/text/bert_characters.hpp>
#include <tx/text/hangul.hpp>
#include <tx/text/mark_places.hpp>

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

// A word as it grows, and, where that is asked for, which bytes of the text each of its own comes from.
template <bool Ranges>
class growing_word {
 public:
  void put(char32_t c, text_range from) {
    if (++characters_ <= max_word_characters) io::append_utf8(text_, c);
    note(from);
  }
  void put_ascii(char c, std::size_t at) {
    if (++characters_ <= max_word_characters) text_.push_back(c);
    note({at, at + 1});
  }
  bool empty() const { return characters_ == 0; }
  // Hands the word to each(word, characters), if there is one, and begins the next. False if it says so. With ranges it is each(word, characters, whole), a
  // slice and the range of all of it, what is cut off too.
  template <class Each>
  bool end(Each& each) {
    if (empty()) return true;
    bool more;
    if constexpr (Ranges) more = each(text_slice{text_, origins_.data()}, characters_, text_range{origins_.front().begin, last_.end});
    else more = each(std::string_view(text_), characters_);
    text_.clear();
    origins_.clear();
    characters_ = 0;
    return more;
  }

 private:
  void note(text_range from) {
    if constexpr (Ranges) {
      origins_.resize(text_.size(), from);
      last_ = from;
    }
  }

  std::string text_;
  std::vector<text_range> origins_;
  text_range last_;
  std::size_t characters_ = 0;
};

// Marks that follow each other from text[i] on, in the order of their canonical classes; `marks` have been read already, without `i`.
// Returns where the text goes on. places: of the marks in that order, where they are wanted.
template <bool Ranges>
std::size_t put_marks(std::u32string marks, std::string_view text, std::size_t i, bert_characters const& table, std::vector<text_range> const& places,
                      growing_word<Ranges>& to) {
  while (i < text.size()) {
    io::code_point const c = io::decode_utf8(text, i);
    auto const e = table[c.value];
    if (e.what != fate::mark && e.what != fate::removed) break;
    if (e.what == fate::mark) marks.push_back(e.value);
    i += c.length;
  }
  std::ranges::stable_sort(marks, {}, bert_characters::order_of);
  for (std::size_t k = 0; k < marks.size(); ++k) to.put(marks[k], k < places.size() ? places[k] : text_range{});
  return i;
}

}  // namespace detail

// Calls each(word, characters) for the words of a text, in order, until it returns false. A word over
// max_word_characters arrives cut off, with the count it would have had. Bytes that are not UTF-8 count as U+FFFD. With Ranges it is
// each(word, characters, range), and the word a slice that tells where its bytes come from.
template <bool Ranges = false, class Each>
void for_each_word(std::string_view text, detail::bert_characters const& table, Each&& each) {
  using detail::fate;
  detail::growing_word<Ranges> word;
  std::size_t letter_at = 0;  // where the last character that is no mark begins
  auto const places = [&] { return Ranges ? detail::places_of_kept_marks(text, letter_at, table) : std::vector<text_range>(); };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t const here = i;
    auto const byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      if constexpr (Ranges) letter_at = i;
      if (char const letter = table.ascii(byte)) {
        if (letter != ' ') word.put_ascii(letter, i);
        else if (!word.end(each)) return;
        ++i;
        continue;
      }
    }
    io::code_point const c = byte < 0x80 ? io::code_point{byte, 1, true} : io::decode_utf8(text, i);
    i += c.length;
    text_range const from{here, i};
    auto const e = table[c.value];
    if constexpr (Ranges)
      if (e.what != fate::removed && e.what != fate::mark) letter_at = here;
    switch (e.what) {
      case fate::letter: word.put(e.value, from); break;
      case fate::removed:
      case fate::blocks: break;
      case fate::space:
        if (!word.end(each)) return;
        break;
      case fate::word:
        if (!word.end(each)) return;
        word.put(e.value, from);
        if (!word.end(each)) return;
        break;
      case fate::mark: i = detail::put_marks({}, text, here, table, places(), word); break;
      case fate::hangul: detail::hangul::take_apart(e.value, [&](char32_t letter) { word.put(letter, from); }); break;
      case fate::several: {
        std::u32string marks;
        for (char32_t const part : table.list(e.value)) {
          if (part == 0) break;
          if (table.rules().strip_accents && detail::bert_characters::order_of(part) != 0) marks.push_back(part);
          else word.put(part, from);
        }
        if (!marks.empty()) i = detail::put_marks(std::move(marks), text, i, table, places(), word);
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
