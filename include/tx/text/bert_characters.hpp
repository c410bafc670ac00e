// What BERT's normalizer and its splitting into words make of each code point, in one look: removed, a space, a word of its own, or letters.
//
//   U+00C9 É   the letter e              U+AC01 각   three letters, of which the syllable is composed
//   U+4E2D 中  a word of its own         U+0301      removed: an accent
#pragma once

#include <tx/text/paged_table.hpp>
#include <tx/text/unicode_tables.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tx::text {

// As tokenizer.json has them; all of them are what uncased models were trained with.
struct bert_rules {
  bool clean = true;          // controls, format characters and what no version of Unicode knew are removed
  bool ideographs = true;     // each is a word of its own
  bool strip_accents = true;  // letters are taken apart, and their accents removed
  bool lowercase = true;

  bool operator==(bert_rules const&) const = default;
};
inline constexpr bert_rules bert_uncased{};
inline constexpr bert_rules bert_cased{.strip_accents = false, .lowercase = false};

namespace detail {

enum class fate : std::uint8_t {
  letter,   // `value` is appended to the word
  removed,
  blocks,   // removed, but marks on both of its sides are put in order apart
  space,    // ends the word
  word,     // ends the word, and `value` is one
  mark,     // appended, after neighbouring marks have been put in the order of their classes
  several,  // the characters of list number `value`
  hangul,   // the letters that the syllable `value` is composed of
};

class bert_characters {
 public:
  struct entry {
    fate what;
    char32_t value;
  };

  explicit bert_characters(bert_rules const& rules) : rules_(rules), table_(packed(made())) {
    for (unsigned char c = ' '; c < 128; ++c)
      if (entry const e = (*this)[c]; e.what == fate::letter || e.what == fate::space) ascii_[c] = e.what == fate::space ? ' ' : static_cast<char>(e.value);
  }
  bert_characters(bert_characters const&) = delete;
  bert_characters& operator=(bert_characters const&) = delete;

  static bert_characters const& uncased() {
    static bert_characters const table(bert_uncased);
    return table;
  }

  bert_rules const& rules() const { return rules_; }
  // c is below 0x110000.
  entry operator[](char32_t c) const {
    std::uint32_t const held = table_[c], value = held & 0xffffff;
    return {static_cast<fate>(held >> 24), value == itself ? c : value};
  }
  // What most ASCII characters are in a word, or the space that ends one; 0 of the others.
  char ascii(unsigned char c) const { return ascii_[c]; }
  // Of `several`; ends with a 0 where it has less than three.
  std::array<char32_t, 3> const& list(char32_t number) const { return lists_[number]; }
  // The canonical combining class of a mark that stays, 0 of all else.
  static int order_of(char32_t c) {
    for (combining_mark const& m : kept_marks)
      if (m.value == c) return m.order;
    return 0;
  }

 private:
  std::vector<entry> made() {
    std::vector<entry> all(0x110000);
    for (char32_t c = 0; c < all.size(); ++c) all[c] = {fate::letter, c};
    if (rules_.lowercase) lower(all);
    if (rules_.strip_accents) strip(all);
    split(all);
    if (rules_.clean) {
      fill(all, removed_ranges, fate::removed);
      fill(all, space_ranges, fate::space);
    }
    return all;
  }

  static constexpr std::uint32_t itself = 0xffffff;  // so that pages of characters that nothing happens to are one

  static void fill(std::vector<entry>& all, std::span<code_range const> ranges, fate f) {
    for_each_point(ranges, [&](char32_t c) { all[c] = {f, c}; });
  }

  void lower(std::vector<entry>& all) {
    for (code_steps const& s : lower_steps)
      for (char32_t c = s.first; c <= s.last; c += static_cast<char32_t>(s.step))
        all[c] = {fate::letter, static_cast<char32_t>(static_cast<int>(c) + s.difference)};
    all[0x130] = {fate::several, add_list({'i', 0x307, 0})};
  }
  // Of characters that have been lowered: without accents first, and that in lower case.
  void strip(std::vector<entry>& all) {
    std::vector<entry> const lowered = all;
    auto const low = [&](char32_t c) { return lowered[c].value; };  // none of those below is U+0130
    for (code_pair const& p : stripped_pairs) all[p.from] = {fate::letter, low(p.to)};
    for (code_list const& l : stripped_lists) {
      std::array<char32_t, 3> to{};
      for (std::size_t k = 0; k < 3 && l.to[k] != 0; ++k) to[k] = low(l.to[k]);
      all[l.from] = {fate::several, add_list(to)};
    }
    for (char32_t c = 0xAC00; c < 0xD7A4; ++c) all[c] = {fate::hangul, c};
    for (combining_mark const& m : kept_marks) all[m.value] = {fate::mark, low(m.value)};
    fill(all, mark_ranges, fate::removed);
    fill(all, blocking_ranges, fate::blocks);
  }
  // Spaces and words are told by what a character has become, ideographs by what it was.
  void split(std::vector<entry>& all) const {
    std::vector<char> own(all.size(), 0), white(all.size(), 0);
    for_each_point(punctuation_ranges, [&](char32_t c) { own[c] = 1; });
    for_each_point(white_ranges, [&](char32_t c) { white[c] = 1; });
    for (entry& e : all) {
      if (e.what != fate::letter) continue;
      if (own[e.value] != 0) e = {fate::word, e.value};
      else if (white[e.value] != 0) e = {fate::space, e.value};
    }
    if (!rules_.ideographs) return;
    for_each_point(ideograph_ranges, [&](char32_t c) {
      if (all[c].what == fate::letter) all[c] = {fate::word, all[c].value};
    });
  }

  char32_t add_list(std::array<char32_t, 3> const& list) {
    lists_.push_back(list);
    return static_cast<char32_t>(lists_.size() - 1);
  }

  static std::vector<std::uint32_t> packed(std::vector<entry> const& all) {
    std::vector<std::uint32_t> out(all.size());
    for (char32_t c = 0; c < all.size(); ++c) {
      entry const& e = all[c];
      bool const same = e.value == c || e.what == fate::removed || e.what == fate::blocks || e.what == fate::space;
      out[c] = static_cast<std::uint32_t>(e.what) << 24 | (same ? itself : static_cast<std::uint32_t>(e.value));
    }
    return out;
  }

  bert_rules rules_;
  std::array<char, 128> ascii_{};
  std::vector<std::array<char32_t, 3>> lists_;
  paged_table<std::uint32_t> table_;  // last: making it fills lists_
};

}  // namespace detail
}  // namespace tx::text
