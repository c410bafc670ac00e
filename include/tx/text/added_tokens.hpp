// Tokens that are found in a text as they are written, before anything else is made of it: "[MASK]", "<s>".
#pragma once

#include <tx/text/byte_level.hpp>
#include <tx/text/text_range.hpp>

#include <array>
#include <string>
#include <vector>

namespace tx::text {

// As tokenizer.json lists them under added_tokens.
struct added_token {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;  // found only where nothing stands beside it that words are of
  bool lstrip = false, rstrip = false;  // takes the spaces before it, behind it
  bool special = false;                 // no part of what a text says, as those around it
};

namespace detail {

// Where the character that ends before `at` begins; at is above 0.
inline std::size_t before(std::string_view text, std::size_t at) {
  std::size_t start = at - 1;
  while (start > 0 && at - start < 4 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
  return start;
}

}  // namespace detail

class added_tokens {
 public:
  added_tokens() = default;
  explicit added_tokens(std::vector<added_token> tokens) : tokens_(std::move(tokens)) {
    for (added_token const& t : tokens_)
      if (!t.content.empty()) begins_[static_cast<unsigned char>(t.content[0])] = true;
  }

  std::vector<added_token> const& all() const { return tokens_; }

  // Calls text_part(part) for what stands between added tokens and token(id, range) for those, in order: at each place the longest that is written there, and
  // none where that is no word alone but has to be. One that begins with a space is found although the one before it takes that space, unless it takes
  // spaces before it and so has nothing left that is its own.
  template <class Text, class Token>
  void split(std::string_view text, Text&& text_part, Token&& token) const {
    std::size_t from = 0, blank_end = 0;  // where the last run of spaces that was taken ends
    for (std::size_t at = 0; at < text.size();) {
      added_token const* const found = longest_at(text, at);
      if (found == nullptr) {
        ++at;
        continue;
      }
      std::size_t start = at, end = at + found->content.size();
      at = end;
      if (found->single_word && is_joined(text, start, end)) continue;
      if (found->lstrip) {
        while (start > from && is_blank(text, detail::before(text, start))) start = detail::before(text, start);
        start = std::max(start, from);
      }
      if (found->rstrip) {  // each character of a run is read once, however many tokens are found in it
        end = std::max(end, blank_end);
        while (end < text.size() && is_blank(text, end)) end += io::decode_utf8(text, end).length;
        blank_end = end;
      }
      if (start >= end) continue;
      if (start > from) text_part(text.substr(from, start - from));
      token(found->id, text_range{start, end});
      from = end;
    }
    if (from < text.size()) text_part(text.substr(from));
  }

 private:
  static bool is_blank(std::string_view text, std::size_t at) { return detail::kind_of(io::decode_utf8(text, at).value) == detail::character_kind::blank; }

  static bool is_joined(std::string_view text, std::size_t start, std::size_t end) {
    return (start > 0 && detail::contains(detail::word_ranges, io::decode_utf8(text, detail::before(text, start)).value)) ||
           (end < text.size() && detail::contains(detail::word_ranges, io::decode_utf8(text, end).value));
  }
  added_token const* longest_at(std::string_view text, std::size_t at) const {
    if (!begins_[static_cast<unsigned char>(text[at])]) return nullptr;
    added_token const* longest = nullptr;
    for (added_token const& t : tokens_) {
      if (t.content.empty() || text[at] != t.content[0] || text.substr(at, t.content.size()) != t.content) continue;
      if (longest == nullptr || longest->content.size() < t.content.size()) longest = &t;
    }
    return longest;
  }

  std::vector<added_token> tokens_;
  std::array<bool, 256> begins_{};  // by the first byte
};

}  // namespace tx::text
