// Where transformers' tokenizers in Python cut a text: at the names of added tokens, which may take the spaces beside them.
#pragma once

#include <tx/text/added_tokens.hpp>
#include <tx/text/byte_automaton.hpp>
#include <tx/text/unicode_tables.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tx::text::detail {

// What str.isspace() of Python holds for one: the separators of ASCII, too.
inline bool is_python_space(char32_t c) { return contains(white_ranges, c) || (c >= 0x1C && c <= 0x1F); }

// In two ways they are unlike added_tokens: a token that loses a space of its own to the one beside it is a text, and spaces are Python's.
class named_cuts {
 public:
  named_cuts() = default;
  // tokens: of names that are neither empty nor each other's, none of them a single_word. Throws format_error that names `source` where one stands within
  // another, behind its begin and before its end: Python may then find neither.
  named_cuts(std::vector<added_token> tokens, std::string const& source) : tokens_(std::move(tokens)) {
    std::vector<std::pair<std::string_view, std::int32_t>> names;
    for (added_token const& t : tokens_) names.emplace_back(t.content, static_cast<std::int32_t>(names.size()));
    names_ = byte_automaton(std::move(names));
    for (added_token const& t : tokens_)
      for (std::size_t at = 1; at + 1 < t.content.size(); ++at)
        if (auto const end = longest_at(std::string_view(t.content).substr(0, t.content.size() - 1), at); end > at)
          throw format_error(source + ": the added token " + io::shown(t.content.substr(at, end - at)) + " stands within " + io::shown(t.content) +
                             ". FIX: other names, or a tokenizer.json");
  }

  std::vector<added_token> const& all() const { return tokens_; }

  // Calls text_part(part) and token(added, part) for what the text is cut into, in order; nothing of it is empty.
  template <class Text, class Token>
  void split(std::string_view text, Text&& text_part, Token&& token) const {
    std::vector<std::string_view> parts;
    std::size_t from = 0;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t const end = longest_at(text, at);
      if (end == at) {
        ++at;
        continue;
      }
      if (at > from) parts.push_back(text.substr(from, at - from));
      parts.push_back(text.substr(at, end - at));
      from = at = end;
    }
    if (from < text.size()) parts.push_back(text.substr(from));
    for (std::size_t k = 0; k < parts.size(); ++k) {
      added_token const* const t = of(parts[k]);
      if (t == nullptr) continue;
      if (t->rstrip && k + 1 < parts.size()) parts[k + 1].remove_prefix(spaces_before(parts[k + 1]));
      if (t->lstrip && k > 0) parts[k - 1].remove_suffix(spaces_behind(parts[k - 1]));
    }
    for (std::string_view const part : parts) {
      if (part.empty()) continue;
      if (added_token const* const t = of(part)) token(*t, part);
      else text_part(part);
    }
  }

 private:
  // Where the longest name that is written at a place ends; the place itself where there is none.
  std::size_t longest_at(std::string_view text, std::size_t at) const {
    std::size_t longest = at;
    std::uint32_t node = byte_automaton::root;
    for (std::size_t i = at; i < text.size() && names_.step(node, text[i]); ++i)
      if (names_.id(node) >= 0) longest = i + 1;
    return longest;
  }
  added_token const* of(std::string_view part) const {
    auto const at = names_.find(part);
    return at ? &tokens_[static_cast<std::size_t>(*at)] : nullptr;
  }
  static std::size_t spaces_before(std::string_view part) {
    std::size_t n = 0;
    while (n < part.size()) {
      auto const c = io::decode_utf8(part, n);
      if (!is_python_space(c.value)) break;
      n += c.length;
    }
    return n;
  }
  static std::size_t spaces_behind(std::string_view part) {
    std::size_t end = part.size();
    while (end > 0 && is_python_space(io::decode_utf8(part, before(part, end)).value)) end = before(part, end);
    return part.size() - end;
  }

  std::vector<added_token> tokens_;
  byte_automaton names_;  // by place in tokens_
};

}  // namespace tx::text::detail
